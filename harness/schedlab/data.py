"""Finds the data that ships with schedlab: `manifests` and `suites`.

In a checkout they lie at its top level; a wheel carries them inside the package, under `_data`.
"""

from __future__ import annotations

from pathlib import Path

from schedlab.errors import EnvironmentStartError

_PACKAGE = Path(__file__).resolve().parent
_ROOTS = (_PACKAGE / "_data", _PACKAGE.parents[1])


def path(name: str) -> Path:
    """The directory or file `name` (for example `manifests/nodes`) of this installation.

    Raises:
        EnvironmentStartError: the installation lacks it.
    """
    for root in _ROOTS:
        candidate = root / name
        if candidate.exists():
            return candidate
    looked = " and ".join(str(root) for root in _ROOTS)
    raise EnvironmentStartError(
        f"this installation of schedlab lacks {name!r} (looked in {looked})",
        hint="reinstall schedlab, or run it from a complete checkout",
    )

"""Plugin names and what builds them: the in-tree registry, and plugins of other packages by entry point."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from importlib.metadata import entry_points
from typing import cast

from kubesched.framework.handle import Factory

ENTRY_POINT_GROUP = "kubesched.plugins"


class UnknownPluginError(ValueError):
    """A profile names a plugin that nobody provides."""


def out_of_tree() -> dict[str, Factory]:
    """The plugins that installed packages offer in the entry-point group `kubesched.plugins`.

    An entry point's name is the plugin's name; its object is called with (args, handle).
    """
    return {point.name: cast("Factory", point.load()) for point in entry_points(group=ENTRY_POINT_GROUP)}


def merge(in_tree: Mapping[str, Factory], others: Mapping[str, Factory]) -> dict[str, Factory]:
    """Both registries as one; raises ValueError when a name is taken."""
    if taken := sorted(in_tree.keys() & others.keys()):
        raise ValueError(f"a plugin named {taken[0]} already exists")
    return {**in_tree, **others}


def unknown(name: str, known: Iterable[str], *, where: str, not_built: frozenset[str]) -> UnknownPluginError:
    """The error for a name that is not in the registry, with the way out."""
    if name in not_built:
        return UnknownPluginError(
            f'{where}: plugin "{name}" exists in kube-scheduler but is not built into kubesched yet; '
            "disable it, or run this profile with kube-scheduler"
        )
    near = difflib.get_close_matches(name, sorted(known), n=1)
    hint = f'; did you mean "{near[0]}"?' if near else ""
    return UnknownPluginError(f'{where}: plugin "{name}" does not exist{hint}')

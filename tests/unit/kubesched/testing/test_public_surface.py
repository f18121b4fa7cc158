"""What plugin authors import does not change by accident."""

from __future__ import annotations

import inspect
import os
from pathlib import Path

import kubesched.framework
import kubesched.testing
from kubesched.framework import API_VERSION
from kubesched.reference.attribute_docs import attribute_doc
from kubesched.reference.surface import signatures

GOLDEN = Path(__file__).with_name("public_surface.txt")
HOW = (
    "the public surface differs from {name}. If that is meant: raise API_VERSION in framework/interface.py "
    "(the minor number if it only adds, else the major one; docs/plugins.md, What is stable), say it in "
    "CHANGELOG.md, and write the file anew with KUBESCHED_UPDATE_DOCS=1"
)


def test_signatures_change_only_with_the_version():
    """Every public name with its signature and type hints is as checked in."""
    if os.environ.get("KUBESCHED_UPDATE_DOCS"):
        GOLDEN.write_text(signatures())
    assert signatures() == GOLDEN.read_text(), HOW.format(name=GOLDEN.name)


def test_the_checked_in_signatures_are_those_of_this_version():
    assert GOLDEN.read_text().splitlines()[0] == f"API_VERSION {API_VERSION}"


def test_every_public_name_says_what_it_is():
    for module in (kubesched.framework, kubesched.testing):
        for name in module.__all__:
            value = getattr(module, name)
            documented = inspect.isclass(value) or inspect.isfunction(value)
            assert value.__doc__ if documented else attribute_doc(name), f"{module.__name__}.{name}"

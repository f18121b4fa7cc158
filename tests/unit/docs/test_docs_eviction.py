"""docs/eviction.md shows for each rule the test that there is, and leaves none out."""

from __future__ import annotations

import re

from tests.pages import DOCS

SUITES = DOCS.parent / "suites" / "eviction"
_PREFIX = re.compile(r"test \(`(\w+-)…`\)")
_NAME = re.compile(r"`([a-z0-9-]+)`")


def named() -> set[str]:
    """The tests of the tables' second columns; each table's head says what their names begin with."""
    found: set[str] = set()
    prefix = ""
    for line in (DOCS / "eviction.md").read_text().splitlines():
        if head := _PREFIX.search(line):
            prefix = head[1]
        elif prefix and line.startswith("|"):
            found |= {prefix + name for name in _NAME.findall(line.split("|")[2])}
    return found


def test_the_page_names_every_test_of_its_two_tables():
    """Tests of node pressure are on a page of their own."""
    written = {path.name for path in SUITES.iterdir() if path.name.startswith(("taint-", "api-"))}
    assert named() == written

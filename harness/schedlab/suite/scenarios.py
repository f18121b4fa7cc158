"""A test with scenarios is several tests: the same steps over a table of bindings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import msgspec

from schedlab.suite.document import Document
from schedlab.suite.plan import Test
from schedlab.suite.positions import Problem
from schedlab.suite.types import Binding


def expanded(test: Test) -> list[Test]:
    """One test per scenario, or the test itself if it has none."""
    return [
        replace(
            test,
            scenario=name,
            spec=msgspec.structs.replace(
                test.spec, bindings=overlaid(test.spec.bindings, scenario.bindings), scenarios=[]
            ),
        )
        for name, scenario in zip(names(test), test.spec.scenarios, strict=True)
    ] or [test]


def names(test: Test) -> list[str]:
    """What the scenarios are called."""
    return [scenario.name or str(number) for number, scenario in enumerate(test.spec.scenarios, 1)]


def overlaid(base: list[Binding], others: list[Binding]) -> list[Binding]:
    """Bindings with other values for some of them, and more at the end."""
    values = {binding.name: binding for binding in others}
    known = {binding.name for binding in base}
    return [values.get(b.name, b) for b in base] + [b for b in others if b.name not in known]


def alike(test: Test, doc: Document) -> Iterator[Problem]:
    """Scenarios of one name."""
    found = names(test)
    for index, name in enumerate(found):
        if Counter(found[: index + 1])[name] == 2:
            place = doc.position(("spec", "scenarios", index))
            yield Problem(place, f"two scenarios are called {name!r}", "give one another name")

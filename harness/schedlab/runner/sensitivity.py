"""Does a test test what it claims? Without the plugin that it names, it must fail.

A test that passes with its subject switched off asserts nothing about it. So each is run with its plugin
disabled in the scheduler's configuration, or with the change that its own `mutation` describes; failing at an
assertion is the good outcome. Waiting is cut to `LONGEST`: tests pass in a small part of that, and `holds` is
left alone, since it makes a test fail rather than pass.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from schedlab.runner.execution import Pace
from schedlab.runner.result import Result
from schedlab.suite.mutation import mutated
from schedlab.suite.plan import Test

LABEL = "plugin"
LONGEST = 8.0
PACE = Pace(longest=LONGEST)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A test that must fail: as it is run, in what words, and without which plugins."""

    test: Test
    title: str
    disabled: tuple[str, ...] = ()


def mutant(test: Test) -> Mutant | None:
    """What a test is turned into: its own mutation wins over its plugin; None if it names neither."""
    if test.spec.mutation is not None:
        return Mutant(mutated(test, test.spec.mutation), f"with {test.spec.mutation.name}")
    plugin = test.metadata.labels.get(LABEL, "")
    return Mutant(test, f"without {plugin}", (plugin,)) if plugin else None


def turned(result: Result) -> Result:
    """The result of a run of a mutant as a verdict on the test.

    Failing at an assertion is a pass, passing is a fail; anything else says nothing.
    """
    if result.verdict in ("pass", "flaky"):
        reason = f"insensitive: it passes {result.mutation}, so it does not test that"
        return msgspec.structs.replace(result, verdict="fail", reason=reason)
    if result.verdict == "fail" and result.failure is not None and result.failure.assertion:
        at = f"{result.failure.operation}: {result.failure.message}"
        reason = f"sensitive: {result.mutation} it fails at {at}"
        return msgspec.structs.replace(result, verdict="pass", reason=reason, failure=None)
    reason = f"unclear: {result.mutation} it does not get as far as an assertion: {result.reason}"
    return msgspec.structs.replace(result, verdict="inconclusive", reason=reason)

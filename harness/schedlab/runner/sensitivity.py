"""Does a test test what it claims? Without the plugin that it names, it must fail.

A test that passes with its subject switched off asserts nothing about it. So each is run with its plugin
disabled in the scheduler's configuration; failing at an assertion is the good outcome. Waiting is cut to
`LONGEST`: tests pass in a small part of that, and `holds` is left alone, since it makes a test fail rather
than pass.
"""

from __future__ import annotations

import msgspec

from schedlab.runner.execution import Pace
from schedlab.runner.result import Result
from schedlab.suite.plan import Test

LABEL = "plugin"
LONGEST = 8.0
PACE = Pace(longest=LONGEST)


def subject(test: Test) -> str:
    """The plugin that a test is about; empty if it names none."""
    return test.metadata.labels.get(LABEL, "")


def turned(result: Result) -> Result:
    """The result of a run without the plugin as a verdict on the test.

    Failing at an assertion is a pass, passing is a fail; anything else says nothing.
    """
    if result.verdict in ("pass", "flaky"):
        reason = f"insensitive: it passes without {result.plugin}, so it does not test it"
        return msgspec.structs.replace(result, verdict="fail", reason=reason)
    if result.verdict == "fail" and result.failure is not None and result.failure.assertion:
        at = f"{result.failure.operation}: {result.failure.message}"
        reason = f"sensitive: without {result.plugin} it fails at {at}"
        return msgspec.structs.replace(result, verdict="pass", reason=reason, failure=None)
    reason = f"unclear: without {result.plugin} it does not get as far as an assertion: {result.reason}"
    return msgspec.structs.replace(result, verdict="inconclusive", reason=reason)

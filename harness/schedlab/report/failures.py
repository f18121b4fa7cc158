"""One failed test for people: expected, seen, since when, how to run it again, where the rest is."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from schedlab.runner.result import Failure, Result
from schedlab.suite.positions import shown


def rendered(result: Result) -> str:
    """The text about a test that did not pass."""
    return "\n".join(_lines(result))


def _lines(result: Result) -> Iterator[str]:
    if result.failure is not None:
        yield from _failure(result.failure)
        if result.verdict == "inconclusive":
            yield f"inconclusive: {result.reason}"
    else:
        yield result.reason
    if result.leftovers:
        yield f"left behind: {', '.join(result.leftovers)}"
    for note in result.notes:
        yield from note.split("\n")
    yield f"rerun:     {rerun(result)}"
    if result.artifacts:
        yield f"artefacts: {shown(Path(result.artifacts))}"


def _failure(failure: Failure) -> Iterator[str]:
    yield f"{failure.position}: {failure.operation} in step {failure.step!r}"
    if not failure.expected:
        yield from failure.message.split("\n")
        return
    yield f"expected:  {failure.expected}"
    yield f"seen:      {failure.seen}"
    if failure.since:
        yield f"since:     {failure.since}"
    yield f"waited:    {failure.waited:.1f}s"
    for event in failure.events:
        yield f"event:     {event}"


def rerun(result: Result) -> str:
    """The command that runs this test alone."""
    argv = ["schedlab", "test", shown(Path(result.path)), "--scheduler", result.scheduler]
    return shlex.join([*argv, "--sensitivity"] if result.mutation else argv)

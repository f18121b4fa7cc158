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
    if ask := replay(result, shown(Path(result.artifacts))):
        yield f"reference: {ask}"
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
    argv = ["schedlab", "test", shown(Path(result.path)), "--scheduler", result.declared or result.scheduler]
    if "." in result.test.rpartition("/")[2]:  # one scenario of several that the file holds
        argv += ["--include-test-regex", f"{result.test}$"]
    return shlex.join([*argv, "--sensitivity"] if result.mutation else argv)


def replay(result: Result, directory: str) -> str:
    """The command that asks the reference about the moment of the failure; empty if no pod is known."""
    objects = result.failure.objects if result.failure is not None else ()
    pods = [
        name.rpartition("/")[2]
        for kind, _, name in (text.partition(" ") for text in objects)
        if kind == "Pod"
    ]
    return shlex.join(["schedlab", "replay", directory, pods[0]]) if pods and result.artifacts else ""

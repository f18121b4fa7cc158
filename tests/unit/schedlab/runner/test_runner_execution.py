"""Steps run in order; catch, finally and cleanup run when they should; a dead scheduler ends it all."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from schedlab.history.history import History
from schedlab.operations.base import Met, Never, Scope, Unmet
from schedlab.operations.evaluate import evaluate
from schedlab.runner.execution import Execution, Pace, SchedulerGone
from schedlab.suite.loader import load

HEAD = "apiVersion: schedlab/v1alpha1\nkind: Test\nmetadata: {name: t}\nspec:\n"


class Env:
    """Writes objects nowhere; objects called `bad` cannot be written."""

    def __init__(self) -> None:
        self.history = History()
        self.bindings: dict[str, Any] = {"namespace": "ns"}
        self.notes: list[str] = []
        self.applied: list[Any] = []
        self.included: list[str] = []
        self.writer = self
        self.seconds: list[float] = []

    @property
    def scope(self) -> Scope:
        return Scope("ns", dict(self.bindings), {})

    async def apply(self, item: dict[str, Any]) -> dict[str, Any]:
        name = item["metadata"]["name"]
        self.applied.append(name)
        if name == "bad":
            raise Unmet(Never("good", "bad"))
        if name == "slow":
            await asyncio.Event().wait()
        return item

    async def include(self, api_version: str, kind: str) -> str:
        self.included.append(kind)
        return kind

    async def until(self, check: Any, seconds: float) -> None:
        self.seconds.append(seconds)
        await evaluate(self.history, lambda _h: Met(), seconds)

    def note(self, text: str) -> None:
        self.notes.append(text)

    async def account(self, refs: Any) -> None:
        self.notes.append(f"account of {len(refs)} objects")


class Scheduler:
    """Lives until told otherwise."""

    name = "mine"

    def __init__(self) -> None:
        self.end = asyncio.Event()

    async def ended(self) -> str:
        await self.end.wait()
        return "mine ended with exit code 1"


def put(name: str, **more: str) -> str:
    extra = "".join(f", {key}: {value}" for key, value in more.items())
    return f"- apply: {{resource: {{apiVersion: v1, kind: X, metadata: {{name: {name}}}}}{extra}}}\n"


def block(name: str, *operations: str) -> str:
    return f"    {name}:\n" + "".join(f"    {operation}" for operation in operations)


async def execute(tmp_path: Path, spec: str, *, pace: Pace | None = None) -> SimpleNamespace:
    path = tmp_path / "test.yaml"
    path.write_text(HEAD + spec)
    env, scheduler = Env(), Scheduler()
    execution = Execution(load(path), env, scheduler, pace or Pace(), lambda _text: None)  # type: ignore[arg-type]
    return SimpleNamespace(env=env, scheduler=scheduler, execution=execution)


async def test_operations_run_in_order_and_are_recorded(tmp_path: Path) -> None:
    """Across steps."""
    run = await execute(
        tmp_path,
        f"  steps:\n  - name: one\n{block('try', put('a'), put('b'))}  - name: two\n{block('try', put('c'))}",
    )
    await run.execution.steps()
    assert run.env.applied == ["a", "b", "c"]
    assert run.execution.failure is None
    assert [(r.step, r.operation, r.outcome) for r in run.execution.records] == [
        ("one", "apply", "ok"),
        ("one", "apply", "ok"),
        ("two", "apply", "ok"),
    ]


async def test_a_failure_ends_the_test_and_is_explained(tmp_path: Path) -> None:
    """Catch of the step, then of the test; finally; and no further step."""
    spec = "  catch:\n  " + put("caught-by-test") + "  steps:\n  - name: one\n"
    spec += block("try", put("bad"), put("not-run")) + block("catch", put("bad"), put("caught"))
    spec += block("finally", put("finally")) + "  - name: two\n" + block("try", put("never"))
    run = await execute(tmp_path, spec)
    await run.execution.steps()
    assert run.env.applied == ["bad", "bad", "caught", "finally", "caught-by-test"]
    failure = run.execution.failure
    assert (failure.step, failure.operation, failure.expected, failure.seen) == (
        "one",
        "apply",
        "good",
        "bad",
    )
    assert failure.position.endswith("test.yaml:10:7")


async def test_cleanup_runs_last_step_first_and_only_for_steps_that_were_begun(tmp_path: Path) -> None:
    """A step that never ran has nothing to clean up."""
    spec = "  steps:\n"
    for name, first in (("one", "a"), ("two", "bad"), ("three", "c")):
        spec += f"  - name: {name}\n" + block("try", put(first)) + block("cleanup", put(f"clean-{name}"))
    run = await execute(tmp_path, spec)
    await run.execution.steps()
    await run.execution.cleanups()
    assert run.env.applied == ["a", "bad", "clean-two", "clean-one"]


async def test_a_failure_in_finally_fails_the_test(tmp_path: Path) -> None:
    """It undoes something, and did not."""
    spec = "  steps:\n  - name: one\n" + block("try", put("a")) + block("finally", put("bad"), put("b"))
    run = await execute(tmp_path, spec + "  - name: two\n" + block("try", put("never")))
    await run.execution.steps()
    assert run.env.applied == ["a", "bad", "b"]
    assert run.execution.failure is not None


async def test_results_are_bound_for_later_steps(tmp_path: Path) -> None:
    """And constants from the start."""
    spec = "  bindings:\n  - {name: first, value: a}\n  steps:\n  - name: one\n"
    spec += (
        block("try", put("($first)", **{"as": "made"}))
        + "  - name: two\n"
        + block("try", put("($made.kind)"))
    )
    run = await execute(tmp_path, spec)
    await run.execution.steps()
    assert run.env.applied == ["a", "X"]


async def test_the_end_of_the_scheduler_ends_the_test(tmp_path: Path) -> None:
    """Even in the middle of an operation; it is no verdict on anything."""
    run = await execute(
        tmp_path, "  steps:\n  - name: one\n" + block("try", put("slow")) + block("catch", put("caught"))
    )
    task = asyncio.create_task(run.execution.steps())
    await asyncio.wait({task}, timeout=0.01)
    run.scheduler.end.set()
    with pytest.raises(SchedulerGone, match="exit code 1"):
        await task
    assert run.execution.failure is None
    assert "caught" not in run.env.applied


@pytest.mark.parametrize(
    ("fields", "spec", "pace", "expected"),
    [
        ("", "", Pace(), 15.0),
        ("", "  timeouts: {delete: 7s}\n", Pace(), 7.0),
        (", timeout: 3s", "  timeouts: {delete: 7s}\n", Pace(), 3.0),
        ("", "", Pace(longest=2.0), 2.0),
    ],
    ids=["the default", "the test's", "its own", "cut short"],
)
async def test_the_closest_timeout_counts(
    tmp_path: Path, fields: str, spec: str, pace: Pace, expected: float
) -> None:
    """Operation, step, test, default; and the pace cuts them all."""
    delete = f"- delete: {{ref: {{apiVersion: v1, kind: Pod, name: a}}{fields}}}\n"
    run = await execute(tmp_path, f"{spec}  steps:\n  - name: one\n{block('try', delete)}", pace=pace)
    await run.execution.steps()
    assert run.env.seconds == [expected]


async def test_a_steps_timeout_wins_over_the_tests(tmp_path: Path) -> None:
    """And only in that step."""
    delete = "- delete: {ref: {apiVersion: v1, kind: Pod, name: a}}\n"
    spec = "  timeouts: {delete: 7s}\n  steps:\n  - name: one\n    timeouts: {delete: 5s}\n" + block(
        "try", delete
    )
    run = await execute(tmp_path, spec + "  - name: two\n" + block("try", delete))
    await run.execution.steps()
    assert run.env.seconds == [5.0, 7.0]


async def test_kinds_are_recorded_before_they_are_asserted(tmp_path: Path) -> None:
    """Else nothing could be seen of them."""
    error = "- error: {resource: {apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: a}}}\n"
    run = await execute(tmp_path, "  steps:\n  - name: one\n" + block("try", error))
    await run.execution.steps()
    assert run.env.included == ["ReplicaSet"]
    assert run.execution.failure is None


async def test_an_expression_that_gives_a_wrong_value_fails_the_operation(tmp_path: Path) -> None:
    """With the field that it does not fit."""
    spec = "  bindings:\n  - {name: n, value: many}\n  steps:\n  - name: one\n"
    spec += block("try", "- nodes: {profile: cpu-32, count: ($n)}\n")
    run = await execute(tmp_path, spec)
    await run.execution.steps()
    assert "Expected `int`, got `str` - at `$.count`" in run.execution.failure.message


async def test_the_pods_of_a_failure_are_explained_unless_failing_is_expected(tmp_path: Path) -> None:
    """In a sensitivity run every test fails, and nobody wants to know why."""
    spec = "  steps:\n  - name: one\n" + block("try", put("bad"))
    told = await execute(tmp_path, spec)
    await told.execution.steps()
    assert told.env.notes == ["account of 0 objects"]
    silent = await execute(tmp_path, spec, pace=Pace(longest=1.0))
    await silent.execution.steps()
    assert silent.env.notes == []

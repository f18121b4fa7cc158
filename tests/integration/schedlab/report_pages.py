"""Reports that no run would give: hostile names, thousands of tests, and a story with all that is drawn."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from schedlab.report import document, page
from schedlab.report.story import Guest, Machine, Mark, Note, Room, Row, Span, Story, Verdict
from schedlab.runner.result import Failure, OperationRecord, Result
from schedlab.runner.result import Verdict as Outcome

NAMES = (
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 2</script>",
    "<!--<script>",
    "<img src=x onerror='window.hacked=3'>",
    '" onmouseover="window.hacked=4" x=\'',
    "&lt;b&gt;&amp;",
    "\u05e9\u05dc\u05d5\u05dd \u202ert\u202c \u0645\u0631\u062d\u0628\u0627",
    "line\u2028separator\u2029and\ttab",
    "javascript:window.hacked=5",
    "__proto__",
    "constructor",
    "x" * 253,
    "${window.hacked=6} $style %s {{7*7}}",
)
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


def story(name: str = "worker") -> Story:
    """Two racks, a job on one of them, a pod that waits, a pod that was preempted, two decisions."""
    gpus = {"nvidia.com/gpu": 4}
    machines = (
        Machine("m-0", 0.0, rack="rack-a", model="H100", slots=gpus, room=(Room(0.0, gpus),)),
        Machine(
            "m-1",
            0.0,
            rack="rack-b",
            model="H100",
            slots=gpus,
            room=(Room(0.0, gpus), Room(2.0, {"nvidia.com/gpu": 3})),
            shut=(Span(3.0, "cordoned"),),
        ),
    )
    guests = (
        Guest(name, 0.5, job=name, takes={"nvidia.com/gpu": 3}, node="m-0", bound=1.0),
        Guest(
            "victim",
            0.6,
            job="old",
            takes={"nvidia.com/gpu": 2},
            node="m-1",
            bound=0.8,
            until=2.5,
            end="preempted",
        ),
        Guest("plain", 0.7, job="web", node="m-1", bound=0.9),
        Guest("waits", 2.0, job="late", takes={"nvidia.com/gpu": 4}),
    )
    rows = (
        Row("m-0", scores={"NodeResourcesFit": 90, name: 300}, total=390, chosen=True),
        Row("m-1", plugin="NodeResourcesFit", reasons=("Insufficient nvidia.com/gpu",), refused=True),
    )
    return Story(
        description=f"What {name} claims.",
        end=4.0,
        length=5.0,
        machines=machines,
        guests=guests,
        marks=(
            Mark("steps", 0.0, name, until=4.0),
            Mark("bound", 1.0, f"{name} bound to m-0"),
            Mark("preempted", 2.5, "victim preempted from m-1"),
            Mark(f"lease {name}", 0.0, name, until=5.0),
        ),
        notes=(Note(1.0, "Warning", "FailedScheduling", f"Pod {name}", f"0/2 nodes: {name}", count=2),),
        verdicts=(
            Verdict(f"ns/{name}", "kube-scheduler, its log", "Scheduled", rows=rows),
            Verdict("ns/waits", f"{name}, its explain", "Unschedulable", message=name, rows=rows[1:], more=3),
        ),
        omitted={"pods": 7},
    )


def result(test: str, scheduler: str, verdict: str = "pass", name: str = "worker") -> Result:
    """A result with all that one can have."""
    failure = Failure(
        message=name,
        step=name,
        operation="scheduled",
        position=f"suites/{name}/test.yaml:3:5",
        expected=f"{name} bound",
        seen=f"{name} pending",
        since="10:00:00.000Z, 2s before the failure",
        waited=3.0,
        events=(f"Warning FailedScheduling Pod {name}: {name}",),
    )
    done = OperationRecord(name, "try", "scheduled", f"a/{name}:3:5", 0.5, "failed", detail=name, began=BEGAN)
    failed = verdict in ("fail", "inconclusive")
    return Result(
        test=test,
        path=f"suites/{test}/test.yaml",
        scheduler=scheduler,
        verdict=cast("Outcome", verdict),
        seconds=1.5,
        reason=name if failed else "",
        failure=failure if verdict == "fail" else None,
        operations=(done,),
        notes=(f"note about {name}\nand a second line",) if failed else (),
        leftovers=(f"Pod {name}",) if failed else (),
    )


def written(results: list[Result], stories: dict[str, Story], file: Path) -> Path:
    """The page about some results; a test's story is found by its name."""
    report = document.document(results, mode="test", seconds=12.0)
    return page.write(report, lambda one: stories.get(one.test, story()), file)


def hostile(file: Path) -> Path:
    """Every name that might be taken for markup, in every place where a name can be."""
    tests = {f"area {number}{name}/{name}": name for number, name in enumerate(NAMES)}
    results = [
        result(test, scheduler, verdict, name)
        for test, name in tests.items()
        for scheduler, verdict in ((NAMES[1], "fail"), (NAMES[3], "inconclusive"))
    ]
    return written(results, {test: story(name) for test, name in tests.items()}, file)


def large(file: Path, tests: int = 2000) -> Path:
    """Many tests on two schedulers, one in fifty of which fails on one of them."""
    results = [
        result(f"area-{number % 20}/a-test-with-a-name-as-long-as-names-are-{number}", scheduler, verdict)
        for number in range(tests)
        for scheduler, verdict in (
            ("kube-scheduler", "pass"),
            ("kubesched", "pass" if number % 50 else "fail"),
        )
    ]
    return written(results, {}, file)

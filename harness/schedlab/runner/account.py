"""What is known about the pods that a failure is about, at the moment of the failure.

The failure itself tells the pod's state and its events. This adds the nodes and what the scheduler under test
itself answers; the report's page gets that answer as data.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from schedlab.api.objects import Object, Ref
from schedlab.decisions.explain import Explain
from schedlab.errors import SchedlabError
from schedlab.history.history import History
from schedlab.history.objects import Objects
from schedlab.operations.explain import nodes_table
from schedlab.report.verdicts import Noted, note
from schedlab.schedulers.running import RunningScheduler, command

MOST = 2
"""Pods of one failure that are explained; the others fare like them."""
PATIENCE = 20.0

_NOT_STATE = ("Event.events.k8s.io", "Lease.coordination.k8s.io", "Secret")


def state(objects: Objects) -> list[Object]:
    """All objects that a decision can depend on, in the order in which they were first seen."""
    return [item for kind in objects.kinds() if kind not in _NOT_STATE for item in objects.list(kind)]


async def own_words(scheduler: RunningScheduler | None, pod: Ref, history: History, directory: Path) -> str:
    """What the scheduler under test itself says about a pod; empty if it cannot be asked."""
    if scheduler is None or not scheduler.spec.spec.explain:
        return ""
    file = directory / "state.json"
    listed = {"apiVersion": "v1", "kind": "List", "items": state(history.current)}
    await asyncio.to_thread(file.write_bytes, msgspec.json.encode(listed))
    return await scheduler.explain(f"{pod.namespace}/{pod.name}", file)


async def account(
    scheduler: RunningScheduler | None, refs: Sequence[Ref], history: History, directory: Path
) -> list[str]:
    """One text per pod among `refs`; the answers that can be drawn are left in the test's directory."""
    texts: list[str] = []
    for ref in [ref for ref in refs if ref.kind == "Pod"][:MOST]:
        pod = history.current.find(ref)
        if pod is None:
            continue
        lines = [f"pod {ref.name}, among the nodes:", *nodes_table(history, pod)]
        lines += await asyncio.gather(
            own_words(scheduler, ref, history, directory), _drawn(scheduler, pod, history, directory)
        )
        texts.append("\n".join(line.rstrip() for line in lines if line))
    return texts


async def _drawn(scheduler: RunningScheduler | None, pod: Object, history: History, directory: Path) -> str:
    """Leave its answer for the page; returns why there is none, if so."""
    if scheduler is None or not scheduler.spec.spec.explain_lines:
        return ""
    try:
        answer = await _answer(scheduler, pod, state(history.current))
    except (SchedlabError, TimeoutError) as error:
        return f"{scheduler.name} did not explain: {error or 'no answer in time'}"
    note(directory, Noted(f"{scheduler.name}, its explain at the failure", answer))
    return ""


async def _answer(scheduler: RunningScheduler, pod: Object, objects: list[Object]) -> dict[str, Any]:
    """Its answer as data: where the pod could go as things are, were it not bound.

    Raises:
        SchedlabError: it does not answer.
        TimeoutError: not in time.
    """
    spec = scheduler.spec
    argv = command(spec, spec.spec.explain_lines, scheduler.values, scheduler.control_plane)
    unbound = {**pod, "spec": {key: value for key, value in pod["spec"].items() if key != "nodeName"}}
    question = {"objects": [item for item in objects if item is not pod], "pod": unbound}
    async with asyncio.timeout(PATIENCE), Explain(argv) as explain:
        return await explain.ask(question)

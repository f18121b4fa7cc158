"""`explain`: shows why a pod is where it is, or nowhere."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any, ClassVar

from msgspec import Meta

from schedlab.api.objects import Json, Object, Ref, ref_of
from schedlab.history.history import History
from schedlab.judge.rules import requests
from schedlab.judge.values import amount, quantity
from schedlab.operations.base import Action, Env
from schedlab.operations.events import line
from schedlab.operations.selecting import finished, node_of, state_of

_GI = 2**30


class Explain(Action, kw_only=True):
    """Print what is known about a pod's scheduling in the report; for `catch`.

    Its state and condition, its Events, a table of the nodes, and what the scheduler under test itself
    answers, if its declaration has an `explain` command.

    ```yaml
    catch:
    - explain: {pod: trainer}
    ```
    """

    tag: ClassVar[str] = "explain"

    pod: Annotated[str, Meta(description="The pod's name.")]
    namespace: Annotated[str | None, Meta(description="Where it is, instead of the test's namespace.")] = None

    async def run(self, env: Env, seconds: float) -> Json:  # noqa: ARG002 - it waits for nothing
        """Note the explanation."""
        pod = env.history.current.get("Pod", self.pod, self.namespace or env.scope.namespace)
        if pod is None:
            env.note(f"pod {self.pod} does not exist")
            return
        own = await env.explain(ref_of(pod))
        env.note("\n".join([*about(env.history, ref_of(pod), pod), *([own] if own else [])]))


def about(history: History, ref: Ref, pod: Object) -> list[str]:
    """A pod's story in lines: state, events, nodes."""
    events = [f"  {line(event)}" for event in history.events(ref)]
    return [f"pod {ref.name}: {state_of(pod)}", *events, *nodes_table(history, pod)]


def nodes_table(history: History, pod: Object) -> list[str]:
    """One line per node: how much of what the pod asks for is taken there, and what keeps pods away."""
    taken: dict[str, Counter[str]] = {}
    bound: Counter[str] = Counter()
    for other in history.current.list("Pod"):
        if node_of(other) and not finished(other):
            taken.setdefault(node_of(other), Counter()).update(_asked(other))
            bound[node_of(other)] += 1
    asked = sorted(name for name, count in _asked(pod).items() if count)
    lines = []
    for node in history.current.list("Node"):
        name = node["metadata"]["name"]
        room = (node.get("status") or {}).get("allocatable") or {}
        used = [_share(one, taken.get(name, Counter())[one], str(room.get(one, "0"))) for one in asked]
        taints = [_taint(taint) for taint in (node.get("spec") or {}).get("taints") or []]
        parts = [f"{bound[name]} pods", *used, f"taints {', '.join(taints) or 'none'}"]
        lines.append(f"  node {name}: {', '.join(parts)}")
    return lines


def _asked(pod: Object) -> dict[str, int]:
    return requests(pod) if pod["spec"].get("containers") else {}


def _share(resource: str, used: int, allocatable: str) -> str:
    """`nvidia.com/gpu 4 of 8`, with cpu in cores and bytes in Gi."""
    whole = amount(resource, quantity(allocatable))
    if resource == "cpu":
        return f"cpu {used / 1000:g} of {whole / 1000:g}"
    if resource in ("memory", "ephemeral-storage"):
        return f"{resource} {used / _GI:.4g}Gi of {whole / _GI:.4g}Gi"
    return f"{resource} {used} of {whole}"


def _taint(taint: dict[str, Any]) -> str:
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint.get('key')}{value}:{taint.get('effect')}"

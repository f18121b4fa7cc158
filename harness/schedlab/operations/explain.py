"""`explain`: shows why a pod is where it is, or nowhere."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from msgspec import Meta

from schedlab.api.objects import Json, Object, Ref, ref_of
from schedlab.history.history import History
from schedlab.operations.base import Action, Env
from schedlab.operations.events import line
from schedlab.operations.selecting import node_of, state_of


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
    return [f"pod {ref.name}: {state_of(pod)}", *events, *nodes_table(history)]


def nodes_table(history: History) -> list[str]:
    """One line per node: room left by requests, taints, how many pods."""
    bound: dict[str, int] = {}
    for pod in history.current.list("Pod"):
        if node_of(pod):
            bound[node_of(pod)] = bound.get(node_of(pod), 0) + 1
    lines = []
    for node in history.current.list("Node"):
        name = node["metadata"]["name"]
        allocatable = (node.get("status") or {}).get("allocatable") or {}
        room = " ".join(
            f"{k}={v}" for k, v in allocatable.items() if k not in ("ephemeral-storage", "pods") and v != "0"
        )
        taints = [_taint(taint) for taint in (node.get("spec") or {}).get("taints") or []]
        lines.append(
            f"  node {name}: {bound.get(name, 0)} pods, allocatable {room}, "
            f"taints {', '.join(taints) or 'none'}"
        )
    return lines


def _taint(taint: dict[str, Any]) -> str:
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint.get('key')}{value}:{taint.get('effect')}"

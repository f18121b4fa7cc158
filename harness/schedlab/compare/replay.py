"""A moment of a recorded test, put before a scheduler once more.

What the scheduler under test met is in the test's history: the objects as they were when the pod was last
unbound. Any scheduler can be asked about that state: one that explains itself, or one that is recorded on a
control plane of its own. So a failure shows what the reference would have decided at that moment.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec

from schedlab.api.objects import Object
from schedlab.decisions.corpus import Question, trimmed
from schedlab.decisions.decision import Decision, Refusal, Unobserved
from schedlab.errors import UsageError
from schedlab.fuzz.replant import is_pending
from schedlab.fuzz.world import KINDS
from schedlab.history.directory import MANIFEST
from schedlab.history.entries import Revision
from schedlab.history.history import History
from schedlab.suite.loader import load

#: Of these a state is made: what a recorder can bring about, and take away again.
_KINDS: Final = frozenset(kind for _, kind in (*KINDS, ("v1", "Node"), ("v1", "Namespace")))
_UNDECIDED = Decision("", "Error")


def question(history: History, name: str) -> Question:
    """The last state in which a pod was undecided or refused, and the pod; other waiting pods are left out.

    Raises:
        UsageError: no pod of that name was ever unbound.
    """
    moment = _last_unbound(history, name)
    objects = [
        trimmed(_typed(item))
        for item in history.at(moment.version)
        if item.get("kind") in _KINDS and item["metadata"].get("uid") != moment.uid and not is_pending(item)
    ]
    return Question(objects, trimmed(_fresh(moment.object)), _UNDECIDED)


def _last_unbound(history: History, name: str) -> Revision:
    waiting = [
        revision
        for revision in history
        if revision.kind == "Pod"
        and revision.type != "DELETED"
        and revision.ref.name == name
        and not revision.object["spec"].get("nodeName")
        and "deletionTimestamp" not in revision.object["metadata"]
    ]
    if not waiting:
        names = {r.ref.name for r in history if r.kind == "Pod" and not r.object["spec"].get("nodeName")}
        raise UsageError(
            f"no pod {name!r} waited for a node in this test", hint=f"there were {', '.join(sorted(names))}"
        )
    return max(waiting, key=lambda revision: revision.version)


def _typed(item: Object) -> Object:
    return {"apiVersion": "v1", **item}


def _fresh(pod: Object) -> Object:
    """The pod as it arrived: what was decided about it then is not part of the question."""
    return {**pod, "status": {}}


def configured(directory: Path) -> dict[str, Any]:
    """The configuration that the test gave to whatever scheduler ran it.

    Raises:
        LoadError: the test is no longer where it was, or wrong by now.
    """
    manifest = msgspec.json.decode((directory / MANIFEST).read_bytes(), type=dict[str, Any])
    return dict(load(Path(manifest["path"])).spec.scheduler.config)


def answer(decision: Decision, nodes: list[str]) -> dict[str, Any]:
    """A decision in the words of `explain`, without anything that was not seen.

    A node of which nothing was seen is left out; a refused one has no plugin and no reason unless they were
    shown.
    """
    shown = {node: _node(decision, node) for node in nodes if _is_shown(decision)}
    legal = [] if isinstance(decision.legal, Unobserved) else sorted(decision.legal)
    chosen = legal or ([decision.node] if isinstance(decision.node, str) else [])
    return {
        "pod": decision.pod,
        "result": decision.result,
        "message": None if isinstance(decision.message, Unobserved) else decision.message,
        "nodes": shown,
        "selected": chosen,
        "preemption": None,
    }


def _is_shown(decision: Decision) -> bool:
    return not isinstance(decision.feasible, Unobserved)


def _node(decision: Decision, node: str) -> dict[str, Any]:
    if isinstance(decision.feasible, Unobserved) or node not in decision.feasible:
        refusals = {} if isinstance(decision.refusals, Unobserved) else decision.refusals
        refusal = refusals.get(node, Refusal("", ()))
        return {"feasible": False, "plugin": refusal.plugin, "reasons": list(refusal.reasons)}
    found: dict[str, Any] = {"feasible": True}
    if not isinstance(decision.totals, Unobserved) and node in decision.totals:
        found["total"] = decision.totals[node]
        found["scores"] = {} if isinstance(decision.scores, Unobserved) else dict(decision.scores[node])
    return found

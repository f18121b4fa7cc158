"""A failure is followed by what is known about its pods: the nodes, and the scheduler's own answer."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from schedlab import timing
from schedlab.api import Ref
from schedlab.history import History, Revision
from schedlab.report.verdicts import FILE, verdicts
from schedlab.runner.account import account, state
from schedlab.schedulers.declaration import SchedulerSpec, Spec

ANSWERS = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    bound = "nodeName" in asked["pod"]["spec"] or any(o["kind"] == "Pod" for o in asked["objects"])
    print(json.dumps({"pod": "ns/w", "result": "Error" if bound else "Scheduled", "message": None,
                      "nodes": {}, "selected": [], "preemption": None}), flush=True)
"""
REF = Ref("Pod", "w", "ns", "u")


def history() -> History:
    found = History()
    for kind, name, body in (
        ("Node", "n1", {"spec": {}}),
        ("Secret", "s", {"data": {"password": "hidden"}}),
        ("Pod", "w", {"spec": {"nodeName": "n1", "containers": [{"name": "c"}]}}),
    ):
        metadata = {
            "name": name,
            "uid": "u",
            "resourceVersion": "1",
            **({"namespace": "ns"} if kind != "Node" else {}),
        }
        item = {"apiVersion": "v1", "kind": kind, "metadata": metadata, **body}
        found.append(Revision(at=timing.now(), type="ADDED", object=item))
    return found


def scheduler(script: str) -> Any:
    """One that explains in its own words, and by a program in lines of JSON."""
    spec = Spec(command=["x"], explain=["x"], explain_lines=[sys.executable, "-c", script])

    async def explain(pod: str, file: Path) -> str:
        return f"{pod} is explained from {file.name}\n"

    plane = SimpleNamespace(tools=())
    return SimpleNamespace(
        name="mine", spec=SchedulerSpec("mine", spec), explain=explain, values={}, control_plane=plane
    )


async def test_people_get_the_nodes_and_the_schedulers_words_and_the_page_its_answer(tmp_path: Path) -> None:
    """The pod is asked about as if it were not bound."""
    texts = await account(scheduler(ANSWERS), [REF], history(), tmp_path)
    assert texts == [
        "pod w, among the nodes:\n  node n1: 1 pods, taints none\nns/w is explained from state.json"
    ]
    (verdict,) = verdicts(tmp_path)
    assert (verdict.source, verdict.result) == ("mine, its explain at the failure", "Scheduled")


async def test_a_scheduler_that_explains_nothing_leaves_the_nodes(tmp_path: Path) -> None:
    """And one that cannot answer says so."""
    assert await account(None, [REF], history(), tmp_path) == [
        "pod w, among the nodes:\n  node n1: 1 pods, taints none"
    ]
    (text,) = await account(scheduler("raise SystemExit('no idea')"), [REF], history(), tmp_path)
    assert "mine did not explain: " in text
    assert "no idea" in text
    assert not (tmp_path / FILE).exists()


async def test_only_pods_that_exist_are_explained_and_not_all_of_many(tmp_path: Path) -> None:
    """A failure may be about a node, or about a pod that is gone."""
    refs = [Ref("Node", "n1"), Ref("Pod", "gone", "ns"), REF, REF, REF]
    assert len(await account(None, refs, history(), tmp_path)) == 1


async def test_what_a_secret_hides_is_not_handed_to_a_scheduler(tmp_path: Path) -> None:
    """No decision depends on it."""
    assert [item["kind"] for item in state(history().current)] == ["Node", "Pod"]
    await account(scheduler(ANSWERS), [REF], history(), tmp_path)
    assert {item["kind"] for item in json.loads((tmp_path / "state.json").read_text())["items"]} == {
        "Node",
        "Pod",
    }

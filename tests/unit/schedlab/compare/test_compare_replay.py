"""A moment of a recorded test becomes a question, and a decision becomes an answer without inventions."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from schedlab.compare.replay import answer, configured, question
from schedlab.compare.replay_command import contradictions, lines
from schedlab.decisions.decision import Decision, Refusal
from schedlab.decisions.explain import decode
from schedlab.errors import UsageError
from schedlab.history.entries import Revision
from schedlab.history.history import History

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def history(*items):
    made = History()
    for version, (kind, name, more) in enumerate(items, start=1):
        meta = {"name": name, "uid": f"{kind}-{name}", "resourceVersion": str(version)} | more.get("meta", {})
        spec = {"nodeName": more["node"]} if more.get("node") else {}
        found = {"apiVersion": "v1", "kind": kind, "metadata": meta, "spec": spec, "status": {"x": "y"}}
        made.append(Revision(NOW, more.get("change", "MODIFIED"), found))
    return made


SEEN = Decision(
    "ns/p",
    "Scheduled",
    feasible=frozenset({"n1", "n2"}),
    scores={"n1": {"Fit": 3}, "n2": {"Fit": 1}},
    totals={"n1": 3, "n2": 1},
    node="n1",
)


def test_the_state_is_that_of_the_last_moment_without_a_node():
    """Later objects, other waiting pods, Events and the pod itself are no part of it."""
    made = history(
        ("Node", "n1", {}),
        ("Pod", "other", {}),
        ("Pod", "old", {"node": "n1"}),
        ("Event", "e", {}),
        ("Pod", "p", {}),
        ("Node", "n2", {}),
        ("Pod", "p", {"node": "n1"}),
    )
    asked = question(made, "p")
    assert [obj["metadata"]["name"] for obj in asked.objects] == ["n1", "old"]
    assert asked.pod["status"] == {}
    assert "nodeName" not in asked.pod["spec"]


def test_what_clean_up_deletes_is_still_there():
    """The history of a test goes on to its end."""
    made = history(
        ("Node", "n1", {}),
        ("Pod", "p", {}),
        ("Pod", "p", {"meta": {"deletionTimestamp": "now"}}),
        ("Node", "n1", {"change": "DELETED"}),
    )
    assert [obj["metadata"]["name"] for obj in question(made, "p").objects] == ["n1"]


def test_a_pod_that_there_was_not_is_answered_with_those_that_there_were():
    with pytest.raises(UsageError, match="no pod 'q' waited") as caught:
        question(history(("Pod", "p", {})), "q")
    assert "p" in caught.value.hint


def test_an_answer_says_what_was_seen_in_the_words_of_explain():
    """So that whoever reads `explain` reads it, too."""
    said = decode(answer(SEEN, ["n1", "n2", "n3"]))
    assert (said.feasible, said.totals, said.scores) == (SEEN.feasible, SEEN.totals, SEEN.scores)
    assert said.legal == {"n1"}
    assert said.refusals == {"n3": Refusal("", ())}


def test_people_see_scores_and_refusals_and_where_schedulers_part():
    other = Decision(
        "ns/p", "Scheduled", feasible=frozenset({"n1"}), refusals={"n2": Refusal("Fit", ("no",))}
    )
    assert list(lines("mine", SEEN, ["n1", "n2"])) == ["mine: Scheduled", "  n1  3  Fit=3", "  n2  1  Fit=1"]
    assert list(lines("theirs", other, ["n2"])) == ["theirs: Scheduled", "  n2  refused  Fit no"]
    told = list(contradictions({"mine": SEEN, "theirs": other}))
    assert "feasible (Fit n2): mine 'feasible', theirs 'refused'" in told
    assert list(contradictions({"mine": SEEN, "same": SEEN})) == []


def test_the_configuration_is_that_of_the_test_and_not_that_of_the_scheduler_that_ran_it(tmp_path):
    """Each scheduler that is asked has a declaration of its own."""
    path = tmp_path / "a-test" / "test.yaml"
    path.parent.mkdir()
    path.write_text(
        "apiVersion: schedlab/v1alpha1\nkind: Test\nmetadata: {name: a-test}\n"
        "spec: {scheduler: {config: {parallelism: 3}},\n"
        "  steps: [{try: [{nodes: {profile: cpu-32, count: 1}}]}]}\n"
    )
    manifest = {"version": 1, "path": str(path), "config": {"parallelism": 9}}
    (tmp_path / "history.json").write_text(json.dumps(manifest))
    assert configured(tmp_path) == {"parallelism": 3}

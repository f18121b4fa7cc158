"""The loop compares every decision, shrinks what differs, and counts what says nothing."""

from __future__ import annotations

import json
import sys

import pytest
from click.testing import CliRunner

from schedlab.api.client import ApiError
from schedlab.decisions import corpus
from schedlab.decisions.corpus import Case, Change, Step
from schedlab.decisions.decision import Decision
from schedlab.decisions.explain import Explain
from schedlab.errors import SchedlabError
from schedlab.fuzz import commands
from schedlab.fuzz.commands import fuzz
from schedlab.fuzz.incremental import Incremental
from schedlab.fuzz.run import Run, Settings
from schedlab.fuzz.tally import Tally
from schedlab.judge import rules

#: A scheduler that finds the same nodes as the judge, knows no scores, and errs where `wrong` says so.
EXPLAIN = """
import json, sys
from schedlab.judge import rules
wrong, remembered = sys.argv[1], {}
for line in sys.stdin:
    question = json.loads(line)
    nodes, fits = {}, []
    seen = question.get("objects")
    if seen is None:
        for event in question["events"]:
            key = event["object"]["kind"], event["object"]["metadata"]["name"]
            remembered.pop(key, None)
            if event["type"] != "DELETED" and not (wrong == "forgets" and len(remembered) > 2):
                remembered[key] = event["object"]
        seen = list(remembered.values())
    for node, plugins in rules.objections(seen, question["pod"]).items():
        if wrong == "ignores taints":
            plugins = [one for one in plugins if one != "TaintToleration"]
        if plugins:
            nodes[node] = {"feasible": False, "plugin": plugins[0], "reasons": plugins}
        else:
            nodes[node] = {"feasible": True, "scores": {}, "total": 0}
            fits.append(node)
    answer = {"result": "Scheduled" if fits else "Unschedulable", "message": None, "nodes": nodes}
    print(json.dumps({"pod": "x", "selected": sorted(fits), "preemption": None, **answer}), flush=True)
"""


def settings(tmp_path, **more):
    wanted = {"decisions": 60, "seed": 1, "features": ("taints",), "provenance": "commit abc", **more}
    return Settings(findings=tmp_path, **wanted)


class Reference:
    """Stands in for the recorder: decides as the judge does, without scores."""

    def __init__(self):
        self.plays = 0
        self.config = {}

    async def play(self, plan):
        self.plays += 1
        objects = [{"metadata": {}, **obj} for obj in plan.objects]
        try:
            steps = tuple(Step(pod, self.decide(objects, pod)) for pod in plan.arrivals)
        except (KeyError, TypeError) as error:
            raise ApiError("POST", 422, "Invalid", f"{error} is required") from error
        return Case("fake", tuple(objects), steps, plan.seed, plan.features)

    def decide(self, objects, pod):
        fits = rules.feasible(objects, pod)
        return Decision("x", "Scheduled" if fits else "Unschedulable", message=None, feasible=fits)


def child(wrong=""):
    return Explain((sys.executable, "-c", EXPLAIN, wrong))


async def test_sides_that_agree_leave_no_finding_and_features_are_seen_to_matter(tmp_path):
    async with child() as explain:
        tally = await Run(settings(tmp_path), Reference(), explain).run()
    assert tally.decisions == 60
    assert not tally.failed
    assert not list(tmp_path.iterdir())
    assert 0 < tally.exercised["taints"] <= tally.tried["taints"]


async def test_a_feature_that_has_mattered_often_enough_is_not_tried_any_more(tmp_path):
    async with child() as explain:
        tally = await Run(settings(tmp_path, enough=2), Reference(), explain).run()
    assert tally.exercised["taints"] == 2
    assert tally.tried["taints"] < tally.decisions


async def test_decisions_that_the_default_configuration_makes_otherwise_are_counted(tmp_path):
    async with child() as explain, child("ignores taints") as plain, child() as same:
        other = await Run(settings(tmp_path), Reference(), explain, plain=plain).run()
        equal = await Run(settings(tmp_path), Reference(), explain, plain=same).run()
    assert 0 < other.switched < other.decisions
    assert equal.switched == 0


async def test_a_plan_is_dressed_before_it_is_played(tmp_path):
    dressed = []

    def dress(plan):
        dressed.append(plan)
        return plan

    await Run(settings(tmp_path, dress=dress), Reference(), None).run()
    assert len(dressed) == 2


async def test_a_difference_is_shrunk_and_written_and_its_like_only_counted(tmp_path):
    async with child("ignores taints") as explain:
        tally = await Run(settings(tmp_path, shrink_attempts=200), Reference(), explain).run()
    assert tally.failed
    assert sum(tally.differences.values()) > 2
    assert all(signature.startswith("explain: ") for signature in tally.differences)
    found = json.loads((tmp_path / "difference-1-001.json").read_text())
    nodes = [obj for obj in found["question"]["objects"] if obj["kind"] == "Node"]
    assert len(nodes) <= 2
    assert any(
        one["effect"] != "PreferNoSchedule" for node in nodes for one in node["spec"].get("taints", ())
    )
    assert not [obj for obj in found["question"]["objects"] if obj["kind"] == "Pod"]
    assert len(list(tmp_path.glob("*.md"))) <= 2 * len(tally.differences)


async def test_the_judge_is_checked_too(tmp_path):
    class Lenient(Reference):
        def decide(self, objects, pod):
            super().decide(objects, pod)
            every = frozenset(obj["metadata"]["name"] for obj in objects if obj["kind"] == "Node")
            return Decision("x", "Scheduled", feasible=every)

    tally = await Run(settings(tmp_path), Lenient(), None).run()
    assert set(tally.differences) == {"judge: feasible"}


async def test_a_reference_that_wavers_says_nothing_and_is_counted(tmp_path):
    class Wavering(Reference):
        def decide(self, objects, pod):
            first = self.plays == 1 and pod["metadata"]["name"] == "pod-0"
            return (
                Decision("x", "Unschedulable", feasible=frozenset())
                if first
                else super().decide(objects, pod)
            )

    tally = await Run(settings(tmp_path, decisions=20), Wavering(), None).run()
    assert not tally.failed
    assert tally.discarded == {"the reference answered differently when asked again": 1}


async def test_cases_that_cannot_be_played_are_counted_with_the_reason(tmp_path):
    class Sometimes(Reference):
        async def play(self, plan):
            case = await super().play(plan)
            if self.plays == 2:
                raise ApiError("POST", 422, "Invalid", "spec.x: bad")
            if self.plays == 3:
                raise SchedlabError("no decision")
            return case

    tally = await Run(settings(tmp_path), Sometimes(), None).run()
    assert tally.decisions == 60
    assert tally.discarded == {
        "the API refused the case: Invalid spec.x: bad": 30,
        "not decided in time: no decision": 30,
    }


async def test_a_broken_environment_ends_the_run(tmp_path):
    class Broken(Reference):
        async def play(self, plan):
            raise SchedlabError("no decision")

    with pytest.raises(SchedlabError, match="5 cases in a row could not be played"):
        await Run(settings(tmp_path), Broken(), None).run()


def conclude(monkeypatch, tmp_path, tally):
    async def pretend(given, argv, config, running):
        return tally

    monkeypatch.setattr(commands, "_fuzz", pretend)
    return CliRunner().invoke(fuzz, ["--findings", str(tmp_path), "--seed", "9"])


def test_differences_make_the_command_fail_with_a_summary(monkeypatch, tmp_path):
    tally = Tally(decisions=10, seconds=2.0)
    tally.differences["explain: message"] = 3
    done = conclude(monkeypatch, tmp_path, tally)
    assert done.exit_code == 1
    assert "3 x explain: message" in done.output
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["differences"] == {"explain: message": 3}
    assert summary["perSecond"] == 5.0
    assert "seed 9" in summary["provenance"]


def test_agreement_makes_it_succeed(monkeypatch, tmp_path):
    done = conclude(monkeypatch, tmp_path, Tally(decisions=10, seconds=1.0))
    assert done.exit_code == 0
    assert "0 differences" in done.output


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--features", "tains"], "unknown feature 'tains'"),
        (["--scheduler", "volcano"], "volcano has no explain command"),
        (["--sampled", "--live"], "with --sampled there is nothing to follow"),
    ],
)
def test_wrong_arguments_are_usage_errors(arguments, complaint):
    done = CliRunner().invoke(fuzz, arguments)
    assert done.exit_code == 2
    assert complaint in done.output


def test_events_lead_one_state_from_case_to_case():
    pod = {"kind": "Pod", "metadata": {"name": "p", "namespace": "ns"}, "spec": {}}
    bound = {**pod, "spec": {"nodeName": "n1"}}
    node = {"kind": "Node", "metadata": {"name": "n1"}}
    steps = (
        Step(pod, Decision("ns/p", "Scheduled"), (Change("ADDED", pod), Change("MODIFIED", bound))),
        Step(pod, Decision("ns/p", "Scheduled")),
    )
    incremental = Incremental()
    first, second = incremental.questions(Case("fake", (node,), steps))
    assert first == {"events": [{"type": "ADDED", "object": node}], "pod": pod}
    assert [(one["type"], one["object"]) for one in second["events"]] == [("ADDED", pod), ("MODIFIED", bound)]
    third, _ = incremental.questions(Case("fake", (node,), steps))
    assert [(one["type"], one["object"]["kind"]) for one in third["events"]] == [
        ("DELETED", "Pod"),
        ("DELETED", "Node"),
        ("ADDED", "Node"),
    ]


async def test_a_state_that_forgets_events_is_found_out(tmp_path):
    async with child("forgets") as explain:
        tally = await Run(settings(tmp_path), Reference(), explain).run()
    assert tally.failed
    assert all(signature.startswith("events: ") for signature in tally.differences)
    page = (tmp_path / "difference-1-001.md").read_text()
    assert "shows only within its case" in page
    (case,) = corpus.read(tmp_path / "difference-1-001.jsonl")
    assert len(case.steps) > 1

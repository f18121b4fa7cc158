"""The patch of a pod's status: upstream's words, and only what differs."""

from __future__ import annotations

import json

import pytest

from kubesched.api.objects import ObjectMeta, Pod
from kubesched.api.pod import PodCondition, PodStatus
from kubesched.client.podstatus import Condition, patch, preempted, unscheduled

NOW = 1_600_000_000.0


def pod(*conditions: PodCondition, nominated: str = "", generation: int = 3) -> Pod:
    meta = ObjectMeta(name="p", namespace="n", uid="u", generation=generation)
    return Pod(metadata=meta, status=PodStatus(conditions=conditions, nominated_node_name=nominated))


def scheduled(status: str = "False", reason: str = "Unschedulable", message: str = "m") -> PodCondition:
    return PodCondition(
        type="PodScheduled",
        status=status,
        reason=reason,
        message=message,
        last_transition_time="2020-01-01T00:00:00Z",
    )


def test_a_new_condition_is_written_whole_with_the_uid_as_a_precondition():
    body = json.loads(patch(pod(), unscheduled("Unschedulable", "no room"), None, NOW))
    assert body == {
        "metadata": {"uid": "u"},
        "status": {
            "conditions": [
                {
                    "type": "PodScheduled",
                    "status": "False",
                    "reason": "Unschedulable",
                    "message": "no room",
                    "lastProbeTime": None,
                    "lastTransitionTime": "2020-09-13T12:26:40Z",
                    "observedGeneration": 3,
                }
            ]
        },
    }


def test_a_condition_that_stands_there_is_not_written_again():
    assert patch(pod(scheduled()), unscheduled("Unschedulable", "m"), None, NOW) is None


def test_another_message_keeps_the_time_of_the_transition():
    body = json.loads(patch(pod(scheduled()), unscheduled("Unschedulable", "other"), None, NOW))
    assert body["status"]["conditions"][0]["lastTransitionTime"] == "2020-01-01T00:00:00Z"


def test_another_status_is_a_transition_now():
    body = json.loads(patch(pod(scheduled(status="True")), unscheduled("Unschedulable", "m"), None, NOW))
    assert body["status"]["conditions"][0]["lastTransitionTime"] == "2020-09-13T12:26:40Z"


@pytest.mark.parametrize(
    ("known", "wanted", "expected"),
    [("", None, None), ("", "", None), ("a", "a", None), ("", "a", "a"), ("b", "a", "a")],
)
def test_a_nomination_is_written_if_it_differs(known, wanted, expected):
    body = patch(pod(nominated=known), None, wanted, NOW)
    assert (body and json.loads(body)["status"]["nominatedNodeName"]) == expected


def test_a_nomination_is_cleared_with_null():
    body = json.loads(patch(pod(nominated="a"), None, "", NOW))
    assert body["status"] == {"nominatedNodeName": None}


def test_a_victim_learns_who_preempts_it():
    assert preempted("gpu") == Condition(
        "DisruptionTarget",
        "True",
        "PreemptionByScheduler",
        "gpu: preempting to accommodate a higher priority pod",
    )

"""Feature gates: upstream's names, defaults, locks and dependencies, and its words for what is wrong."""

from __future__ import annotations

import pytest

from kubesched.config.gates import FeatureGateError, FeatureGates, known, parse


@pytest.mark.parametrize(
    ("gate", "enabled"),
    [
        ("SchedulerQueueingHints", True),
        ("SchedulerAsyncPreemption", True),
        ("SchedulerPopFromBackoffQ", True),
        ("SchedulerAsyncAPICalls", False),
        ("OpportunisticBatching", True),
        ("DynamicResourceAllocation", True),
        ("GangScheduling", False),
        ("StorageCapacityScoring", False),
        ("AllAlpha", False),
    ],
)
def test_defaults_are_those_of_1_36(gate, enabled):
    assert FeatureGates().enabled(gate) is enabled


def test_every_gate_of_kube_scheduler_1_36_is_known():
    assert len(known()) == 241


def test_gates_are_set_by_repeated_lists_and_the_last_wins():
    gates = parse(["GenericWorkload=true,GangScheduling=true", "kube:GangScheduling=false", ""])
    assert gates.enabled("GenericWorkload")
    assert not gates.enabled("GangScheduling")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("Foo=true", "unrecognized feature gate: Foo"),
        ("GangSchedulin=true", 'unrecognized feature gate: GangSchedulin (did you mean "GangScheduling"?)'),
        ("GangScheduling", "missing bool value for GangScheduling"),
        (
            "GangScheduling=x",
            'invalid value of GangScheduling=x, err: strconv.ParseBool: parsing "x": invalid syntax',
        ),
        (
            "SchedulerQueueingHints=false",
            "cannot set feature gate SchedulerQueueingHints to false, feature is locked to true",
        ),
        (
            "GangScheduling=true",
            "GangScheduling is enabled, but depends on features that are disabled: [GenericWorkload]",
        ),
        ("wardle:GangScheduling=true", "component not registered: wardle"),
    ],
)
def test_what_is_wrong_is_said_in_upstreams_words(value, message):
    with pytest.raises(FeatureGateError) as caught:
        parse([value])
    assert str(caught.value) == message


def test_a_whole_stage_is_switched_except_what_is_named():
    gates = parse(["AllAlpha=true,GangScheduling=false,WorkloadAwarePreemption=false"])
    assert gates.enabled("StorageCapacityScoring")
    assert not gates.enabled("GangScheduling")


def test_equal_settings_are_equal():
    assert parse(["GangScheduling=false"]) == FeatureGates({"GangScheduling": False})
    assert len({parse([]), FeatureGates()}) == 1


def test_asking_for_an_unknown_gate_is_a_programming_error():
    with pytest.raises(KeyError):
        FeatureGates().enabled("Nope")

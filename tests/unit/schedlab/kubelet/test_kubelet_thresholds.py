"""Thresholds are read and judged as by a kubelet; the cases are those that its helper tests list."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kubelet_pods import observed

from schedlab.errors import UsageError
from schedlab.kubelet.quantities import parse
from schedlab.kubelet.signals import (
    ALLOCATABLE,
    CONTAINERFS,
    IMAGEFS,
    IMAGEFS_INODES,
    MEMORY,
    NODEFS,
    NODEFS_INODES,
    PIDS,
)
from schedlab.kubelet.thresholds import (
    Bound,
    Threshold,
    by_urgency,
    met,
    parse_thresholds,
    with_container_filesystem,
)


def read(hard=None, soft=None, grace=None, reclaim=None, *, allocatable=False):
    return parse_thresholds(
        hard=hard or {},
        soft=soft or {},
        soft_grace=grace or {},
        minimum_reclaim=reclaim or {},
        allocatable=allocatable,
    )


def amount(text):
    return Bound(quantity=parse(text))


def share(value):
    return Bound(share=pytest.approx(value, rel=1e-6))


def test_nothing_configured_is_no_threshold():
    """An empty configuration switches eviction off."""
    assert read() == []


def test_memory_thresholds_are_hard_soft_and_of_what_is_allocatable():
    """The hard one is copied to what all pods together may use; the soft one is not."""
    found = read({MEMORY: "150Mi"}, {MEMORY: "300Mi"}, {MEMORY: "30s"}, {MEMORY: "0"}, allocatable=True)
    assert found == [
        Threshold(MEMORY, amount("150Mi"), 0, amount("0")),
        Threshold(MEMORY, amount("300Mi"), 30, amount("0")),
        Threshold(ALLOCATABLE, amount("150Mi"), 0, amount("0")),
    ]


def test_memory_thresholds_may_be_percentages():
    """Of the capacity, the minimum reclaim as well."""
    found = read({MEMORY: "10%"}, {MEMORY: "30%"}, {MEMORY: "30s"}, {MEMORY: "5%"})
    assert found == [
        Threshold(MEMORY, share(0.1), 0, share(0.05)),
        Threshold(MEMORY, share(0.3), 30, share(0.05)),
    ]


@pytest.mark.parametrize(
    ("first", "second", "values"),
    [
        (IMAGEFS, NODEFS, ("150Mi", "100Mi", "300Mi", "200Mi", "2Gi", "1Gi")),
        (IMAGEFS_INODES, NODEFS_INODES, ("150Mi", "100Mi", "300Mi", "200Mi", "2Gi", "1Gi")),
    ],
)
def test_disk_thresholds_are_read_for_each_file_system(first, second, values):
    """Each with its own grace and minimum."""
    hard1, hard2, soft1, soft2, reclaim1, reclaim2 = values
    found = read(
        {first: hard1, second: hard2},
        {first: soft1, second: soft2},
        {first: "30s", second: "30s"},
        {first: reclaim1, second: reclaim2},
    )
    assert found == [
        Threshold(first, amount(hard1), 0, amount(reclaim1)),
        Threshold(second, amount(hard2), 0, amount(reclaim2)),
        Threshold(first, amount(soft1), 30, amount(reclaim1)),
        Threshold(second, amount(soft2), 30, amount(reclaim2)),
    ]


def test_fractions_of_a_percent_are_read():
    """10.5 % is a tenth and a bit."""
    assert read({NODEFS: "10.5%"}) == [Threshold(NODEFS, share(0.105))]


@pytest.mark.parametrize("text", ["0%", "100%"])
def test_0_and_100_percent_switch_a_threshold_off(text):
    """They are ignored, hard or soft, even without a grace period."""
    assert read({MEMORY: text}, {MEMORY: text}) == []


WRONG = {
    "an unknown signal": ({"hard": {"mem.available": "150Mi"}}, "unsupported eviction signal mem.available"),
    "a known and an unknown signal": (
        {"hard": {MEMORY: "150Mi", "invalid.foo": "150Mi"}},
        "unsupported eviction signal invalid.foo",
    ),
    "a negative quantity": ({"hard": {MEMORY: "-150Mi"}}, "must be positive: -150Mi"),
    "a quantity of zero": ({"hard": {MEMORY: "0"}}, "must be positive: 0"),
    "a negative percentage": ({"hard": {MEMORY: "-15%"}}, "must be >= 0%: -15%"),
    "more than 100 percent": ({"hard": {MEMORY: "150%"}}, "must be <= 100%: 150%"),
    "an empty value": ({"hard": {MEMORY: ""}}, "is not a quantity"),
    "a malformed percentage": ({"hard": {MEMORY: "10..5%"}}, "is not a percentage"),
    "a word for a percentage": ({"hard": {MEMORY: "foo%"}}, "is not a percentage"),
    "a negative soft quantity": ({"soft": {MEMORY: "-150Mi"}}, "must be positive"),
    "a soft threshold without grace": (
        {"soft": {MEMORY: "150Mi"}},
        "grace period must be specified for the soft eviction threshold memory.available",
    ),
    "a negative grace period": (
        {"soft": {MEMORY: "150Mi"}, "grace": {MEMORY: "-30s"}},
        "invalid eviction grace period specified: -30s, must be a positive value",
    ),
    "a malformed grace period": ({"grace": {MEMORY: "30mins"}}, "is not a duration"),
    "a grace period of an unknown signal": ({"grace": {"mem": "3s"}}, "unsupported eviction signal mem"),
    "a negative minimum reclaim": (
        {"reclaim": {MEMORY: "-300Mi"}},
        "negative eviction minimum reclaim specified for memory.available",
    ),
    "a minimum reclaim of an unknown signal": ({"reclaim": {"mem": "1"}}, "unsupported eviction signal mem"),
    "an empty minimum reclaim": ({"reclaim": {MEMORY: ""}}, "is not a quantity"),
    "a negative percentage to reclaim": (
        {"reclaim": {MEMORY: "-15%"}},
        "eviction percentage minimum reclaim memory.available must be positive: -15%",
    ),
    "a malformed percentage to reclaim": ({"reclaim": {MEMORY: "10..5%"}}, "is not a percentage"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_kubelet_would_not_start_with(case):
    """Each mistake is told in the kubelet's words."""
    given_, words = WRONG[case]
    with pytest.raises(UsageError) as caught:
        read(**given_)
    assert words in caught.value.message


GIB = Threshold(MEMORY, amount("1Gi"), 0, amount("500Mi"))


@pytest.mark.parametrize(
    ("available", "with_reclaim", "crossed"),
    [
        ("500Mi", False, True),
        ("1Gi", False, False),
        ("1025Mi", False, False),
        ("2Gi", False, False),
        ("1.05Gi", True, True),
        ("1524Mi", True, False),
        ("2Gi", True, False),
    ],
)
def test_a_threshold_is_met_below_it_and_until_the_minimum_is_reclaimed(available, with_reclaim, crossed):
    """Less than; equal is enough."""
    assert met([GIB], observed(memory=available), with_reclaim=with_reclaim) == ([GIB] if crossed else [])


FIFTH = Threshold(MEMORY, Bound(share=0.2), 0, Bound(share=0.05))
THIRTY = Threshold(NODEFS, Bound(share=0.3))


@pytest.mark.parametrize(
    ("memory", "nodefs", "with_reclaim", "crossed"),
    [
        ("100Mi/1000Mi", "100Gi/1000Gi", False, [FIFTH, THIRTY]),
        ("300Mi/1000Mi", "400Gi/1000Gi", False, []),
        ("300Mi/1000Mi", "100Gi/1000Gi", False, [THIRTY]),
        ("100Mi/1000Mi", "400Gi/1000Gi", False, [FIFTH]),
        ("225Mi/1000Mi", "400Gi/1000Gi", True, [FIFTH]),
        ("300Mi/1000Mi", "400Gi/1000Gi", True, []),
    ],
)
def test_percentages_are_of_the_capacity(memory, nodefs, with_reclaim, crossed):
    """The minimum reclaim's, too."""
    readings = observed(memory=memory, nodefs=nodefs)
    assert met([FIFTH, THIRTY], readings, with_reclaim=with_reclaim) == crossed


def test_what_is_not_observed_is_not_met():
    """A signal without a reading says nothing."""
    assert met([GIB], {}, with_reclaim=False) == []


@given(st.integers(0, 1 << 40), st.integers(0, 1 << 40))
def test_a_minimum_reclaim_never_ends_an_eviction_sooner(available, minimum):
    """Whatever is met without it is met with it."""
    one = Threshold(MEMORY, amount("1Gi"), 0, amount(str(minimum)))
    readings = observed(memory=str(available))
    if met([one], readings, with_reclaim=False):
        assert met([one], readings, with_reclaim=True)


@pytest.mark.parametrize("first", [MEMORY, ALLOCATABLE])
def test_memory_comes_first_and_the_rest_keeps_its_order(first):
    """Memory is what a node dies of soonest."""
    given_ = [Threshold(signal, amount("1")) for signal in (NODEFS, PIDS, first)]
    assert [one.signal for one in by_urgency(given_)] == [first, NODEFS, PIDS]


@pytest.mark.parametrize(
    ("dedicated", "split", "expected"),
    [(False, False, "1Gi"), (True, False, "2Gi"), (True, True, "1Gi")],
)
def test_containerfs_has_the_threshold_of_the_file_system_it_is_part_of(dedicated, split, expected):
    """Whatever the configuration says of containerfs itself."""
    given_ = read({NODEFS: "1Gi", IMAGEFS: "2Gi", CONTAINERFS: "3Gi"}, {NODEFS: "5Gi"}, {NODEFS: "9s"})
    found = with_container_filesystem(given_, dedicated_imagefs=dedicated, split=split)
    hard = [one.bound for one in found if one.signal == CONTAINERFS and one.hard]
    soft = [(one.bound, one.grace) for one in found if one.signal == CONTAINERFS and not one.hard]
    assert hard == [amount(expected)]
    assert soft == ([] if dedicated and not split else [(amount("5Gi"), 9)])

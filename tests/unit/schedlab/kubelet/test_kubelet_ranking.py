"""Pods are ranked for eviction as by a kubelet; the cases are those that its helper tests list."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kubelet_pods import HIGH, LOCAL, LOW, disk, inodes, memory, pod

from schedlab.kubelet.ranking import Parts, by_disk, by_memory, by_processes, measured, ranked
from schedlab.kubelet.signals import CONTAINERFS, IMAGEFS, MEMORY, NODEFS, NODEFS_INODES, PIDS
from schedlab.kubelet.stats import Disks, PodStats

ALL = Parts.LAYERS | Parts.LOGS | Parts.VOLUMES


def order(ranking, *cases):
    """The names, ranked; the cases are given in the reverse of what is expected."""
    pods = [pod for pod, _ in reversed(cases)]
    stats = {one["metadata"]["uid"]: usage for one, usage in cases if usage is not None}
    return [one["metadata"]["name"] for one in ranking(pods, stats)]


def expect(ranking, *cases):
    assert order(ranking, *cases) == [one["metadata"]["name"] for one, _ in cases]


def bytes_of(parts=ALL):
    return lambda pods, stats: by_disk(pods, stats, parts, "ephemeral-storage")


def inodes_of(pods, stats):
    return by_disk(pods, stats, ALL, "inodes")


def test_a_pod_above_its_memory_request_goes_before_one_below():
    """By a single mebibyte, and although its priority is higher."""
    expect(
        by_memory,
        (pod("exceeds-requests", HIGH, memory="100Mi"), memory("101Mi")),
        (pod("below-requests", LOW, memory="200Mi"), memory("199Mi")),
    )


def test_a_pod_that_uses_just_its_request_does_not_exceed_it():
    """Above means above."""
    expect(
        by_memory,
        (pod("above", HIGH, memory="100Mi"), memory("101Mi")),
        (pod("equal", LOW, memory="900Mi"), memory("900Mi")),
    )


def test_a_pod_above_its_disk_request_goes_before_one_below():
    """Layers and logs count together."""
    expect(
        bytes_of(),
        (pod("exceeds-requests", HIGH, storage="100Mi"), disk("90Mi", "11Mi")),
        (pod("below-requests", LOW, storage="200Mi"), disk("100Mi", "99Mi")),
    )


def test_the_lower_priority_goes_first():
    """Among pods that use nothing above their requests."""
    expect(
        by_memory,
        (pod("low-priority", -134), memory("0")),
        (pod("medium-priority", 1, memory="100Mi"), memory("0")),
        (pod("high-priority", 12534, memory="200Mi"), memory("0")),
    )


def test_disk_usage_counts_above_the_request():
    """Each pod's rank is its usage minus its request, in Mi: 300, 250, 100, 10, -25, -280."""
    expect(
        bytes_of(),
        (pod("best-effort-high", volumes=LOCAL), disk("50Mi", "100Mi", "150Mi")),
        (pod("burstable-high", storage="100Mi", volumes=LOCAL), disk("150Mi", "150Mi", "50Mi")),
        (pod("best-effort-low", volumes=LOCAL), disk("25Mi", "25Mi", "50Mi")),
        (pod("burstable-low", storage="100Mi", volumes=LOCAL), disk("25Mi", "35Mi", "50Mi")),
        (pod("guaranteed-high", storage="400Mi", volumes=LOCAL), disk("225Mi", "100Mi", "50Mi")),
        (pod("guaranteed-low", storage="400Mi", volumes=LOCAL), disk("25Mi", "45Mi", "50Mi")),
    )


def test_the_most_inodes_go_first():
    """Nobody can request inodes, so all of them count."""
    expect(
        inodes_of,
        (pod("high", volumes=LOCAL), inodes(200_000, 150_000, 50_000)),
        (pod("medium", volumes=LOCAL), inodes(100_000, 150_000, 50_000)),
        (pod("low", volumes=LOCAL), inodes(50_000, 100_000, 50_000)),
    )


def test_inodes_rank_by_priority_first():
    """Since every pod that has files exceeds."""
    expect(
        inodes_of,
        (pod("low-priority-high-usage", LOW, volumes=LOCAL), inodes(50_000, 100_000, 250_000)),
        (pod("low-priority-low-usage", LOW, volumes=LOCAL), inodes(60_000, 30_000, 10_000)),
        (pod("high-priority-high-usage", HIGH, volumes=LOCAL), inodes(150_000, 150_000, 50_000)),
        (pod("high-priority-low-usage", HIGH, volumes=LOCAL), inodes(10_000, 40_000, 100_000)),
    )


PRIORITY_AND_EXCESS = [
    ("above-requests-low-priority-high-usage", LOW, "", "500Mi", ("200Mi", "100Mi", "200Mi")),
    ("above-requests-low-priority-low-usage", LOW, "", "50Mi", ("10Mi", "10Mi", "30Mi")),
    ("above-requests-high-priority-high-usage", HIGH, "100Mi", "600Mi", ("200Mi", "150Mi", "250Mi")),
    ("above-requests-high-priority-low-usage", HIGH, "100Mi", "150Mi", ("90Mi", "50Mi", "10Mi")),
    ("below-requests-low-priority-high-usage", LOW, "1Gi", "800Mi", ("500Mi", "200Mi", "100Mi")),
    ("below-requests-low-priority-low-usage", LOW, "1Gi", "200Mi", ("50Mi", "100Mi", "50Mi")),
    ("below-requests-high-priority-high-usage", HIGH, "1Gi", "800Mi", ("250Mi", "500Mi", "50Mi")),
    ("below-requests-high-priority-low-usage", HIGH, "1Gi", "200Mi", ("100Mi", "60Mi", "40Mi")),
]


def test_memory_ranks_by_excess_priority_and_amount():
    """In that order of importance."""
    expect(
        by_memory,
        *(
            (pod(name, priority, memory=asked), memory(used))
            for name, priority, asked, used, _ in PRIORITY_AND_EXCESS
        ),
    )


def test_disk_ranks_by_excess_priority_and_amount():
    """In that order of importance."""
    expect(
        bytes_of(),
        *(
            (pod(name, priority, storage=asked, volumes=LOCAL), disk(*parts))
            for name, priority, asked, _, parts in PRIORITY_AND_EXCESS
        ),
    )


def test_memory_counts_above_the_request():
    """Each pod's rank is its usage minus its request, in Mi: 700, 500, 300, 200, -224, -824."""
    expect(
        by_memory,
        (pod("burstable-high", memory="100Mi"), memory("800Mi")),
        (pod("best-effort-high"), memory("500Mi")),
        (pod("best-effort-low"), memory("300Mi")),
        (pod("burstable-low", memory="100Mi"), memory("300Mi")),
        (pod("guaranteed-high", memory="1Gi"), memory("800Mi")),
        (pod("guaranteed-low", memory="1Gi"), memory("200Mi")),
    )


def test_processes_rank_by_priority_and_number():
    """Requests play no part."""
    expect(
        by_processes,
        (pod("low-priority-high-usage", LOW), PodStats(processes=20)),
        (pod("low-priority-low-usage", LOW, memory="1Gi"), PodStats(processes=6)),
        (pod("high-priority-high-usage", HIGH), PodStats(processes=20)),
        (pod("high-priority-low-usage", HIGH), PodStats(processes=5)),
    )


@pytest.mark.parametrize(("ranking", "usage"), [(by_memory, memory("1Gi")), (bytes_of(), disk("1Gi"))])
def test_a_pod_without_statistics_goes_first(ranking, usage):
    """Whatever its priority: it may be the one to blame."""
    expect(ranking, (pod("unknown", HIGH, memory="1Gi"), None), (pod("known", LOW), usage))


def test_a_pod_without_statistics_is_first_of_its_priority_for_processes():
    """There, priority comes before everything."""
    expect(
        by_processes,
        (pod("low", LOW), PodStats(processes=1)),
        (pod("unknown", HIGH), None),
        (pod("high", HIGH), PodStats(processes=9)),
    )


def test_inodes_are_ranked_with_the_storage_request_subtracted():
    """A quirk of the kubelet that is kept: bytes are subtracted from inodes."""
    expect(
        inodes_of,
        (pod("few"), inodes(10, 0, 0)),
        (pod("many", storage="1Mi"), inodes(100_000, 0, 0)),
    )


@pytest.mark.parametrize(
    ("signal", "disks", "parts"),
    [
        (NODEFS, Disks.ONE, ALL),
        (IMAGEFS, Disks.ONE, ALL),
        (NODEFS, Disks.IMAGEFS, Parts.LOGS | Parts.VOLUMES),
        (NODEFS_INODES, Disks.IMAGEFS, Parts.LOGS | Parts.VOLUMES),
        (IMAGEFS, Disks.IMAGEFS, Parts.LAYERS),
        (CONTAINERFS, Disks.IMAGEFS, Parts.LAYERS),
        (NODEFS, Disks.SPLIT, ALL),
        (CONTAINERFS, Disks.SPLIT, ALL),
        (IMAGEFS, Disks.SPLIT, Parts.NOTHING),
    ],
)
def test_only_what_lies_on_the_full_file_system_counts(signal, disks, parts):
    """A pod's logs do not matter where only its layer is in the way."""
    assert measured(signal, disks) == parts


@pytest.mark.parametrize(
    ("signal", "first"),
    [(MEMORY, "memory"), (PIDS, "processes"), (NODEFS, "files"), (NODEFS_INODES, "nodes")],
)
def test_each_signal_has_its_own_ranking(signal, first):
    """The pod that starves the node of it comes first."""
    pods = [pod("memory"), pod("processes"), pod("files"), pod("nodes")]
    stats = {
        "uid-memory": memory("1Gi"),
        "uid-processes": PodStats(processes=100),
        "uid-files": disk("1Gi"),
        "uid-nodes": inodes(500, 0, 0),
    }
    assert ranked(pods, stats, signal, Disks.ONE)[0]["metadata"]["name"] == first


USAGES = st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=8)


@given(USAGES)
def test_nobody_within_its_request_goes_before_anybody_above(usages):
    """The promise that requests make, whatever the priorities."""
    pods = [pod(f"p{i}", prio, memory=f"{asked}Mi") for i, (prio, asked, _) in enumerate(usages)]
    stats = {f"uid-p{i}": memory(f"{used}Mi") for i, (_, _, used) in enumerate(usages)}
    found = [int(one["metadata"]["name"][1:]) for one in by_memory(pods, stats)]
    above = [usages[i][2] > usages[i][1] for i in found]
    assert above == sorted(above, reverse=True)
    for group in (True, False):
        priorities = [usages[i][0] for i in found if (usages[i][2] > usages[i][1]) == group]
        assert priorities == sorted(priorities)

"""What a kubelet does as pressure comes and goes, in virtual time; the stories are its own tests'."""

from __future__ import annotations

import pytest
from kubelet_pods import HIGH, LOW, Node, disk, memory, pod

from schedlab.kubelet.configuration import Configuration, configure
from schedlab.kubelet.manager import EvictionManager
from schedlab.kubelet.pods import critical, request
from schedlab.kubelet.stats import Disks
from schedlab.suite.types import KubeletNeeds

PODS = [
    pod("guaranteed-low-priority-high-usage", LOW, memory="1Gi", qos="Guaranteed"),
    pod("burstable-below-requests", memory="100Mi"),
    pod("burstable-above-requests", memory="100Mi"),
    pod("best-effort-high-priority-high-usage", HIGH),
    pod("best-effort-low-priority-low-usage", LOW),
]
USAGE = dict(
    zip(
        (one["metadata"]["uid"] for one in PODS),
        (memory(text) for text in ("900Mi", "50Mi", "400Mi", "400Mi", "100Mi")),
        strict=True,
    )
)
VICTIM = "best-effort-low-priority-low-usage"
BEST_EFFORT, BURSTABLE = pod("best-admit"), pod("burst-admit", memory="100Mi")
MINUTE = 60.0


def settings(**needs) -> Configuration:
    needs = {"eviction_hard": {"memory.available": "1Gi"}, "enforce_node_allocatable": [], **needs}
    return configure(KubeletNeeds(**needs))


class Story:
    """One node and its kubelet; each chapter is one look at so much memory left, so much later."""

    def __init__(self, configuration: Configuration, pods=PODS, stats=USAGE) -> None:
        self.manager = EvictionManager(configuration)
        self.node = Node(dict(stats), "2Gi")
        self.pods = list(pods)
        self.now = 0.0

    def look(self, available: str = "", after: float = 0.0):
        self.now += after
        self.node.available = available or self.node.available
        return self.manager.synchronize(self.node, self.pods, self.now)

    def evicts(self, available: str = "", after: float = 0.0) -> list[tuple[str, int]]:
        found = self.look(available, after).evictions
        return [(one.pod["metadata"]["name"], one.grace) for one in found]

    @property
    def admits(self) -> list[bool]:
        return [self.manager.admit(one) == "" for one in (BEST_EFFORT, BURSTABLE)]


def test_memory_pressure_comes_and_goes():
    """Soft threshold, its grace, eviction; hard threshold, eviction at once; transition period; calm."""
    story = Story(
        settings(
            eviction_soft={"memory.available": "2Gi"},
            eviction_soft_grace_period={"memory.available": "2m"},
            eviction_max_pod_grace_period=5,
        )
    )
    assert story.evicts("2Gi") == []
    assert (story.manager.conditions, story.admits) == ((), [True, True])

    assert story.evicts("1500Mi", MINUTE) == []  # the soft threshold is crossed, its grace not over
    assert story.manager.conditions == ("MemoryPressure",)
    assert story.evicts("1500Mi", 3 * MINUTE) == [(VICTIM, 5)]

    assert story.evicts("3Gi", 20 * MINUTE) == []
    assert story.manager.conditions == ()

    assert story.evicts("500Mi", MINUTE) == [(VICTIM, 1)]
    assert (story.manager.conditions, story.admits) == (("MemoryPressure",), [False, True])

    assert story.evicts("2Gi", MINUTE) == []  # over, but for less than the transition period
    assert (story.manager.conditions, story.admits) == (("MemoryPressure",), [False, True])

    assert story.evicts("2Gi", 5 * MINUTE) == []
    assert (story.manager.conditions, story.admits) == ((), [True, True])


def test_a_minimum_reclaim_evicts_until_it_is_reached():
    """Above the threshold is not enough once it was crossed."""
    story = Story(settings(eviction_minimum_reclaim={"memory.available": "500Mi"}))
    assert story.evicts("1200Mi") == []
    assert story.evicts("500Mi", MINUTE) == [(VICTIM, 1)]
    assert story.evicts("1.2Gi", MINUTE) == [(VICTIM, 1)]
    assert story.evicts("2Gi", MINUTE) == []
    assert story.manager.conditions == ("MemoryPressure",)
    assert story.evicts("2Gi", 5 * MINUTE) == []
    assert story.manager.conditions == ()


def test_pressure_that_passes_starts_a_new_grace_period():
    """The time below a soft threshold does not add up."""
    story = Story(
        settings(
            eviction_hard={},
            eviction_soft={"memory.available": "2Gi"},
            eviction_soft_grace_period={"memory.available": "60s"},
        )
    )
    assert story.evicts("1Gi") == []
    assert story.evicts("3Gi", 59) == []
    assert story.evicts("1Gi", 1) == []
    assert story.evicts("1Gi", 59) == []
    assert story.evicts("1Gi", 1) == [(VICTIM, 1)]


@pytest.mark.parametrize(("own", "grace"), [(None, 5), (3, 3), (30, 5), (0, 1)])
def test_a_soft_threshold_leaves_the_pods_own_grace_up_to_the_maximum(own, grace):
    """And never less than a second."""
    story = Story(
        settings(
            eviction_hard={},
            eviction_soft={"memory.available": "2Gi"},
            eviction_soft_grace_period={"memory.available": "1s"},
            eviction_max_pod_grace_period=5,
        ),
        [pod("one", terminationGracePeriodSeconds=own) if own is not None else pod("one")],
        {"uid-one": memory("1Gi")},
    )
    assert story.evicts("1Gi") == []
    assert story.evicts("1Gi", 1) == [("one", grace)]


def test_an_eviction_says_why_and_marks_the_disruption():
    """With the threshold, what was left, and who used too much."""
    found = Story(settings()).look("500Mi")
    assert found.reclaiming == "memory"
    assert found.evictions[0].disruption
    assert found.evictions[0].message == (
        "The node was low on resource: memory. Threshold quantity: 1Gi, available: 500Mi. "
        "Container main was using 100Mi, request is 0, has larger consumption of memory. "
    )
    assert found.evictions[0].annotations["starved_resource"] == "memory"


def test_critical_pods_are_ranked_but_passed_over():
    """The next one goes in their place; nobody, if all are critical."""
    mirror = {**PODS[3]["metadata"], "annotations": {"kubernetes.io/config.mirror": "x"}}
    spared = [
        {**PODS[3], "metadata": mirror},
        {**PODS[4], "spec": {**PODS[4]["spec"], "priority": 2 * 10**9}},
    ]
    assert Story(settings(), [*PODS[:3], *spared]).evicts("500Mi") == [("burstable-above-requests", 1)]
    assert Story(settings(), spared).evicts("500Mi") == []


@pytest.mark.parametrize(
    ("annotations", "priority", "expected"),
    [
        ({"kubernetes.io/config.source": "file"}, 0, True),
        ({"kubernetes.io/config.source": "api"}, 0, False),
        ({"kubernetes.io/config.mirror": "hash"}, 0, True),
        ({}, 2_000_000_000, True),
        ({}, 1_999_999_999, False),
    ],
)
def test_static_pods_mirrors_and_system_priorities_are_critical(annotations, priority, expected):
    """And nothing else is."""
    one = pod("one", priority)
    one["metadata"]["annotations"] = annotations
    assert critical(one) is expected


def test_disk_pressure_refuses_everybody_but_critical_pods():
    """Whatever they tolerate; memory pressure beside it makes no difference."""
    story = Story(settings(eviction_hard={"memory.available": "1Gi", "nodefs.available": "10Gi"}))
    story.node.nodefs = "95000Mi"
    story.look("500Mi")
    assert set(story.manager.conditions) == {"MemoryPressure", "DiskPressure"}
    tolerant = pod("tolerant", tolerations=[{"operator": "Exists"}])
    assert story.admits == [False, False]
    assert story.manager.admit(tolerant) == "The node had condition: [MemoryPressure DiskPressure]. "
    assert story.manager.admit(pod("critical", 2_000_001_000)) == ""


def test_a_best_effort_pod_that_tolerates_the_taint_is_admitted_under_memory_pressure():
    """A toleration of another taint does not help."""
    story = Story(settings())
    story.look("500Mi")
    pressure = {"key": "node.kubernetes.io/memory-pressure", "operator": "Exists", "effect": "NoSchedule"}
    assert story.manager.admit(pod("a", tolerations=[pressure])) == ""
    assert story.manager.admit(pod("b", tolerations=[{**pressure, "key": "other"}])) != ""


DISK = {"eviction_hard": {"nodefs.available": "10Gi"}}


def full(images: str, containers: str = "0", **needs) -> Story:
    """A node with 5,000 Mi of 100,000 Mi left, so much of it taken by what can be freed."""
    story = Story(settings(**DISK, **needs), [pod("writer")], {"uid-writer": disk("1Gi")})
    story.node.images, story.node.containers = images, containers
    freeable = sum(int(text.removesuffix("Mi")) for text in (images, containers) if text != "0")
    story.node.nodefs = f"{95_000 - 1024 - freeable}Mi"
    return story


def test_unused_images_and_dead_containers_go_before_pods():
    """Nobody is evicted if that was enough; the condition is there all the same."""
    story = full("20000Mi", "10Mi")
    found = story.look()
    assert (found.reclaiming, list(found.evictions)) == ("ephemeral-storage", [])
    assert story.node.reclaimed == ["containers", "images"]
    assert found.conditions == ("DiskPressure",)


def test_a_pod_goes_if_there_is_too_little_to_free():
    """In the same round."""
    assert full("1000Mi").evicts() == [("writer", 1)]


def test_freeing_must_satisfy_the_minimum_reclaim_as_well():
    """Just above the threshold is not enough."""
    story = full("6000Mi", eviction_minimum_reclaim={"nodefs.available": "2Gi"})
    assert story.evicts() == [("writer", 1)]
    assert full("6000Mi").evicts() == []


def test_memory_pressure_frees_no_images():
    """They take no memory."""
    story = Story(settings())
    story.look("500Mi")
    assert story.node.reclaimed == []


@pytest.mark.parametrize(
    ("signal", "disks", "freed"),
    [
        ("nodefs.available", Disks.IMAGEFS, []),
        ("imagefs.available", Disks.IMAGEFS, ["containers", "images"]),
        ("nodefs.available", Disks.SPLIT, ["containers"]),
        ("imagefs.available", Disks.SPLIT, ["images"]),
        ("imagefs.available", Disks.ONE, ["containers", "images"]),
        ("pid.available", Disks.ONE, []),
    ],
)
def test_only_what_lies_on_the_full_file_system_is_freed(signal, disks, freed):
    """Dead containers lie where layers do, images on imagefs."""
    story = Story(settings(eviction_hard={signal: "99%"}, disks=disks.value))
    story.node.images = story.node.nodefs = "50000Mi"
    story.look()
    assert story.node.reclaimed == freed


def test_pods_above_their_own_limits_go_all_at_once_and_nobody_else():
    """Without a DisruptionTarget, and before any threshold is acted upon."""
    limited = [pod(name, limit="1Gi") for name in ("a", "b")]
    stats = {"uid-a": disk("2Gi"), "uid-b": disk("2Gi")}
    story = Story(settings(), [*limited, *PODS], {**USAGE, **stats})
    found = story.look("500Mi")
    assert [one.pod["metadata"]["name"] for one in found.evictions] == ["a", "b"]
    assert not any(one.disruption for one in found.evictions)
    assert found.conditions == ("MemoryPressure",)


def test_limits_are_not_enforced_without_isolation():
    """The kubelet's localStorageCapacityIsolation."""
    story = Story(
        settings(local_storage_capacity_isolation=False), [pod("a", limit="1Gi")], {"uid-a": disk("2Gi")}
    )
    assert story.evicts() == []


def test_what_is_allocatable_is_guarded_unless_nothing_is_enforced():
    """8 Gi are allocatable and the machine is twice as large, so only the pods' own sum is at its end."""
    stats = {"uid-hog": memory("7500Mi")}
    for enforced, expected in ((["pods"], [("hog", 1)]), ([], [])):
        story = Story(settings(enforce_node_allocatable=enforced), [pod("hog")], stats)
        assert story.evicts("8Gi") == expected


def test_defaults_are_the_kubelets():
    """100Mi of memory, 10 % of nodefs, 15 % of imagefs, 5 % of inodes; five minutes; ten seconds."""
    found = configure(KubeletNeeds())
    assert [(one.signal, one.hard) for one in found.thresholds][:5] == [
        ("memory.available", True),
        ("nodefs.available", True),
        ("nodefs.inodesFree", True),
        ("imagefs.available", True),
        ("imagefs.inodesFree", True),
    ]
    assert (found.transition_period, found.period, found.max_pod_grace) == (300.0, 10.0, 0)


def test_given_thresholds_replace_the_defaults_unless_merged():
    """As a kubelet's mergeDefaultEvictionSettings says."""
    hard = {"memory.available": "1Gi"}
    alone = configure(KubeletNeeds(eviction_hard=hard, enforce_node_allocatable=[]))
    merged = configure(KubeletNeeds(eviction_hard=hard, merge_default_eviction_settings=True))
    assert [one.signal for one in alone.thresholds] == ["memory.available"]
    assert len({one.signal for one in merged.thresholds}) == 8  # with those of containerfs and allocatable
    assert next(iter(merged.thresholds)).bound.of(0).value == 1 << 30


def test_requests_count_as_a_kubelet_counts_them():
    """The pod's own request replaces those of its containers; overhead counts on top of a request only."""
    assert request(pod("a", memory="1Gi"), "memory") == 1 << 30
    assert request(pod("a", memory="1Gi", overhead={"memory": "1Mi"}), "memory") == (1 << 30) + (1 << 20)
    assert request(pod("a", overhead={"memory": "1Mi"}), "memory") == 0
    own = pod("a", memory="1Gi", storage="1Gi", resources={"requests": {"memory": "2Gi"}})
    assert (request(own, "memory"), request(own, "ephemeral-storage")) == (2 << 30, 0)

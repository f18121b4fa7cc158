"""The scoring strategies of NodeResourcesFit, and NodeResourcesBalancedAllocation."""

from __future__ import annotations

import pytest
from plugin_world import World

from kubesched.config.args import (
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    RequestedToCapacityRatio,
    ResourceSpec,
    ScoringStrategy,
    UtilizationShapePoint,
)
from kubesched.plugins.noderesources.strategies import shape_table
from kubesched.plugins.registry import IN_TREE
from kubesched.testing.builders import node, pod

FIT, BALANCED = IN_TREE["NodeResourcesFit"], IN_TREE["NodeResourcesBalancedAllocation"]
CPU_AND_MEMORY = (ResourceSpec(name="cpu"), ResourceSpec(name="memory"))


def strategy(kind, resources=CPU_AND_MEMORY, shape=()):
    ratio = RequestedToCapacityRatio(
        shape=tuple(UtilizationShapePoint(utilization=u, score=s) for u, s in shape)
    )
    return NodeResourcesFitArgs(
        scoring_strategy=ScoringStrategy(
            type=kind, resources=resources, requested_to_capacity_ratio=ratio if shape else None
        )
    )


def machine(name, cpu, memory, **more):
    made = node(name).cpu(f"{cpu}m").memory(memory)
    for resource, amount in more.items():
        made = made.resource(f"example.com/{resource}", amount)
    return made


def asking(name, cpu, memory):
    return pod(name).cpu(f"{cpu}m").memory(memory)


TWO = asking("p", 1000, 2000).container(cpu="2000m", memory="3000")
NOTHING = asking("p", 0, 0)
BUSY = [
    asking("a", 3000, 0).on("n1"),
    asking("b", 3000, 0).on("n1"),
    asking("c", 3000, 0).on("n2"),
    asking("d", 3000, 5000).on("n2"),
]


@pytest.mark.parametrize(
    ("incoming", "objects", "resources", "expected"),
    [
        pytest.param(
            NOTHING,
            [machine("n1", 4000, 10000), machine("n2", 4000, 10000)],
            CPU_AND_MEMORY,
            [100, 100],
            id="nothing scheduled, nothing requested",
        ),
        pytest.param(
            TWO,
            [machine("n1", 4000, 10000), machine("n2", 6000, 10000)],
            CPU_AND_MEMORY,
            [37, 50],
            id="nothing scheduled, resources requested, differently sized machines",
        ),
        pytest.param(
            NOTHING,
            [machine("n1", 10000, 20000), machine("n2", 10000, 20000), *BUSY],
            CPU_AND_MEMORY,
            [70, 57],
            id="no resources requested, pods scheduled with resources",
        ),
        pytest.param(
            TWO,
            [machine("n1", 10000, 20000), machine("n2", 10000, 20000), BUSY[0], BUSY[3]],
            CPU_AND_MEMORY,
            [57, 45],
            id="resources requested, pods scheduled with resources",
        ),
        pytest.param(
            TWO,
            [machine("n1", 10000, 20000), machine("n2", 10000, 50000), BUSY[0], BUSY[3]],
            CPU_AND_MEMORY,
            [57, 60],
            id="the same on differently sized machines",
        ),
        pytest.param(
            asking("p", 3000, 0),
            [machine("n1", 4000, 10000), machine("n2", 4000, 10000), BUSY[0], BUSY[3]],
            CPU_AND_MEMORY,
            [50, 25],
            id="requests that exceed the capacity score zero",
        ),
        pytest.param(
            NOTHING,
            [machine("n1", 0, 0), machine("n2", 0, 0)],
            CPU_AND_MEMORY,
            [0, 0],
            id="machines without capacity score zero",
        ),
        pytest.param(
            TWO,
            [machine("n1", 4000, 10000), machine("n2", 6000, 10000)],
            (ResourceSpec(name="cpu", weight=1), ResourceSpec(name="memory", weight=2)),
            [41, 50],
            id="resources may weigh differently",
        ),
        pytest.param(
            TWO,
            [machine("n1", 6000, 10000), machine("n2", 6000, 10000, foo=4)],
            (*CPU_AND_MEMORY, ResourceSpec(name="example.com/foo")),
            [50, 50],
            id="an extended resource that is not requested is left out",
        ),
        pytest.param(
            asking("p", 3000, 5000).request("example.com/foo", 2),
            [machine("n1", 6000, 10000, foo=4), machine("n2", 6000, 10000, foo=10)],
            (*CPU_AND_MEMORY, ResourceSpec(name="example.com/foo")),
            [50, 60],
            id="an extended resource that is requested counts",
        ),
    ],
)
def test_least_allocated(incoming, objects, resources, expected):
    """The free share of each resource, truncated, then the truncated weighted mean."""
    scores = World(FIT, *objects, args=strategy("LeastAllocated", resources)).scores(incoming)
    assert list(scores.values()) == expected


def test_a_container_without_requests_counts_with_defaults():
    """100m of cpu and 200Mi of memory are assumed where nothing is requested; zero stays zero."""
    machines = [node("n1").cpu(1).memory("1000Mi"), node("n2").cpu(1).memory("1000Mi")]
    world = World(FIT, *machines, pod("x").on("n1"), args=strategy("LeastAllocated"))
    assert list(world.scores(pod("p")).values()) == [(80 + 60) // 2, (90 + 80) // 2]
    assert list(world.scores(NOTHING).values()) == [(90 + 80) // 2, 100]


def test_pod_level_requests_do_not_count_for_the_incoming_pod():
    """The score looks at the containers of the pod to be placed, whatever is requested on the pod's level."""
    from msgspec.structs import replace

    from kubesched.api.container import ResourceRequirements

    plain = asking("p", 1000, 0)
    level = ResourceRequirements(requests={"cpu": "3"})
    raised = replace(plain, spec=replace(plain.spec, resources=level))
    world = World(FIT, machine("n1", 4000, 10000), args=strategy("LeastAllocated"))
    assert world.scores(raised) == world.scores(plain) == {"n1": 87}
    assert World(FIT, machine("n1", 2000, 10000)).passing(raised) == []


@pytest.mark.parametrize(
    ("incoming", "objects", "expected"),
    [
        pytest.param(
            NOTHING,
            [machine("n1", 4000, 10000), machine("n2", 4000, 10000)],
            [0, 0],
            id="nothing scheduled, nothing requested",
        ),
        pytest.param(
            TWO,
            [machine("n1", 4000, 10000), machine("n2", 6000, 10000)],
            [62, 50],
            id="nothing scheduled, resources requested, differently sized machines",
        ),
        pytest.param(
            NOTHING,
            [machine("n1", 10000, 20000), machine("n2", 10000, 20000), *BUSY],
            [30, 42],
            id="no resources requested, pods scheduled with resources",
        ),
        pytest.param(
            asking("p", 5000, 9000),
            [machine("n1", 4000, 10000), machine("n2", 10000, 9000)],
            [95, 75],
            id="requests above the capacity count as full",
        ),
    ],
)
def test_most_allocated(incoming, objects, expected):
    """The used share of each resource, truncated, then the truncated mean."""
    assert list(World(FIT, *objects, args=strategy("MostAllocated")).scores(incoming).values()) == expected


FOO = (
    ResourceSpec(name="example.com/foo", weight=5),
    ResourceSpec(name="cpu", weight=3),
    ResourceSpec(name="memory", weight=1),
)


@pytest.mark.parametrize(
    ("machine_size", "used", "documented"),
    [
        pytest.param(
            {"foo": 4}, asking("u", 1000, 256).request("example.com/foo", 1), 5, id="node 1 scores 5"
        ),
        pytest.param(
            {"foo": 8}, asking("u", 6000, 512).request("example.com/foo", 2), 7, id="node 2 scores 7"
        ),
    ],
)
def test_documented_bin_packing(machine_size, used, documented):
    """The documentation's worked example truncates on a scale of ten; kube-scheduler rounds on 100."""
    args = strategy("RequestedToCapacityRatio", FOO, [(0, 0), (100, 10)])
    world = World(FIT, machine("n", 8000, 1024, **machine_size), used.on("n"), args=args)
    incoming = asking("p", 2000, 256).request("example.com/foo", 2)
    score = world.scores(incoming)["n"]
    assert score == {5: 60, 7: 69}[documented]


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        pytest.param([(0, 10), (100, 0)], {0: 100, 1: 99, 50: 50, 99: 1, 100: 0}, id="falling"),
        pytest.param([(10, 1), (90, 9)], {0: 10, 10: 10, 50: 50, 90: 90, 100: 90}, id="flat at both ends"),
        pytest.param([(0, 10), (3, 0)], {1: 67, 2: 34}, id="a falling line truncates towards zero"),
        pytest.param([(0, 0), (3, 10)], {1: 33, 2: 66}, id="a rising line truncates towards zero"),
    ],
)
def test_shape(shape, expected):
    """The broken line between the points, in Go's integer arithmetic."""
    table = shape_table([UtilizationShapePoint(utilization=u, score=s) for u, s in shape])
    assert {at: int(table[at]) for at in expected} == expected


def test_ratio_drops_the_weight_of_a_zero_score():
    """A resource that scores zero does not pull the mean down, and halves round away from zero."""
    args = strategy("RequestedToCapacityRatio", CPU_AND_MEMORY, [(0, 0), (100, 10)])
    world = World(FIT, machine("n1", 4000, 10000), args=args)
    assert world.scores(asking("p", 2000, 0)) == {"n1": 50}
    assert world.scores(asking("p", 2000, 100)) == {"n1": 26}


HALF_BUSY = [asking("a", 3000, 0).on("n1"), asking("b", 3000, 5000).on("n2")]
WITH_GPU = (*CPU_AND_MEMORY, ResourceSpec(name="example.com/gpu"))


@pytest.mark.parametrize(
    ("incoming", "objects", "resources", "expected"),
    [
        pytest.param(
            NOTHING, [machine("n1", 4000, 10000)], CPU_AND_MEMORY, None, id="a best-effort pod is skipped"
        ),
        pytest.param(
            TWO,
            [machine("n1", 4000, 10000), machine("n2", 6000, 10000)],
            CPU_AND_MEMORY,
            [68, 75],
            id="nothing scheduled, resources requested, differently sized machines",
        ),
        pytest.param(
            TWO,
            [machine("n1", 10000, 20000), machine("n2", 10000, 20000), *HALF_BUSY],
            CPU_AND_MEMORY,
            [73, 74],
            id="pods scheduled with resources",
        ),
        pytest.param(
            TWO,
            [machine("n1", 10000, 20000), machine("n2", 10000, 50000), *HALF_BUSY],
            CPU_AND_MEMORY,
            [73, 70],
            id="the same on differently sized machines",
        ),
        pytest.param(
            asking("p", 0, 5000),
            [machine("n1", 3000, 5000), machine("n2", 3000, 5000), HALF_BUSY[0]],
            CPU_AND_MEMORY,
            [100, 50],
            id="from one-sided to balanced, and the other way",
        ),
        pytest.param(
            asking("p", 3000, 0),
            [machine("n1", 6000, 10000), machine("n2", 6000, 10000), *HALF_BUSY],
            CPU_AND_MEMORY,
            [62, 62],
            id="requests at the capacity",
        ),
        pytest.param(
            asking("p", 0, 0).request("example.com/gpu", 1),
            [
                machine("n1", 3500, 40000, gpu=8),
                machine("n2", 3500, 40000, gpu=8),
                asking("a", 3000, 5000).request("example.com/gpu", 3).on("n1"),
                asking("b", 3000, 5000).on("n2"),
            ],
            WITH_GPU,
            [75, 76],
            id="three resources use the standard deviation",
        ),
        pytest.param(
            TWO,
            [machine("n1", 3500, 40000, gpu=8), machine("n2", 3500, 40000)],
            WITH_GPU,
            [56, 56],
            id="an extended resource that is not requested is left out",
        ),
    ],
)
def test_balanced_allocation(incoming, objects, resources, expected):
    """75 plus half of what the pod does to the balance."""
    args = NodeResourcesBalancedAllocationArgs(resources=resources)
    scores = World(BALANCED, *objects, args=args).scores(incoming)
    assert (None if scores is None else list(scores.values())) == expected


def test_balanced_allocation_leaves_out_what_a_node_lacks():
    """Of three resources a node may have two: then half their difference counts."""
    args = NodeResourcesBalancedAllocationArgs(resources=WITH_GPU)
    objects = [machine("n1", 4000, 8000, gpu=8), machine("n2", 4000, 8000)]
    incoming = asking("p", 1000, 4000).request("example.com/gpu", 6)
    assert World(BALANCED, *objects, args=args).scores(incoming) == {"n1": 64, "n2": 68}

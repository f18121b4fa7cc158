"""What a pod asks of a node: containers, init containers, sidecars, overhead, pod level, resize, defaults."""

from __future__ import annotations

from typing import Any

import pytest

from kubesched.api.objects import Pod, convert
from kubesched.api.resources import allocatable, is_counted
from kubesched.testing.builders import pod

MI = 1024**2


def made(status: dict[str, Any] | None = None, **spec: Any) -> Pod:
    obj = convert({"kind": "Pod", "metadata": {"name": "p"}, "spec": spec, "status": status or {}})
    assert isinstance(obj, Pod)
    return obj


def container(name: str = "c", **more: Any) -> dict[str, Any]:
    requests = {key.replace("_", "-"): text for key, text in more.items() if key != "restartPolicy"}
    kept = {key: text for key, text in more.items() if key == "restartPolicy"}
    return {"name": name, "resources": {"requests": requests}, **kept}


def sidecar(name: str = "s", **requests: str) -> dict[str, Any]:
    return container(name, restartPolicy="Always", **requests)


def status_of(
    name: str, *, actuated: dict[str, str] | None, allocated: dict[str, str] | None = None
) -> dict[str, Any]:
    given: dict[str, Any] = {"name": name, "allocatedResources": allocated or {}}
    if actuated is not None:
        given["resources"] = {"requests": actuated}
    return given


@pytest.mark.parametrize(
    ("asking", "requests"),
    [
        pytest.param(made(), {}, id="no containers ask for nothing"),
        pytest.param(
            made(containers=[container(cpu="1"), container(cpu="500m", memory="1Mi")]),
            {"cpu": 1500, "memory": MI},
            id="containers add up",
        ),
        pytest.param(
            made(
                containers=[container(cpu="1")], initContainers=[container(cpu="3"), container(memory="2Mi")]
            ),
            {"cpu": 3000, "memory": 2 * MI},
            id="the largest init container counts, per resource",
        ),
        pytest.param(
            made(containers=[container(cpu="1")], initContainers=[sidecar(cpu="2")]),
            {"cpu": 3000},
            id="a sidecar runs beside the containers",
        ),
        pytest.param(
            made(containers=[container(cpu="1")], initContainers=[sidecar(cpu="2"), container(cpu="5")]),
            {"cpu": 7000},
            id="an init container runs beside the sidecars before it",
        ),
        pytest.param(
            made(containers=[container(cpu="1")], initContainers=[container(cpu="5"), sidecar(cpu="2")]),
            {"cpu": 5000},
            id="and not beside those after it",
        ),
        pytest.param(
            made(containers=[container(cpu="1")], overhead={"cpu": "250m", "memory": "1Mi"}),
            {"cpu": 1250, "memory": MI},
            id="overhead comes on top",
        ),
        pytest.param(
            made(containers=[container(cpu="0.4m"), container(cpu="0.4m"), container(cpu="0.2m")]),
            {"cpu": 1},
            id="the sum is exact and rounded up once",
        ),
        pytest.param(
            made(containers=[container(**{"nvidia.com/gpu": "2", "vendor": "3", "hugepages_2Mi": "4Mi"})]),
            {"nvidia.com/gpu": 2, "hugepages-2Mi": 4 * MI},
            id="a resource that no node counts is left out",
        ),
    ],
)
def test_requests_add_up(asking: Pod, requests: dict[str, int]) -> None:
    """The formula of KEP 753, in milli cpu and base units."""
    assert asking.requests == requests
    assert asking.asked.incoming == requests


@pytest.mark.parametrize(
    ("level", "requests"),
    [
        pytest.param(
            {"requests": {"cpu": "3"}}, {"cpu": 3000, "memory": MI, "x.io/y": 1}, id="replaces the sum"
        ),
        pytest.param(
            {"requests": {"x.io/y": "5"}}, {"cpu": 1000, "memory": MI, "x.io/y": 1}, id="not for extended"
        ),
        pytest.param(
            {"limits": {"cpu": "3"}}, {"cpu": 1000, "memory": MI, "x.io/y": 1}, id="limits do not count"
        ),
        pytest.param(
            {"requests": {"hugepages-2Mi": "2Mi"}},
            {"cpu": 1000, "memory": MI, "x.io/y": 1, "hugepages-2Mi": 2 * MI},
            id="huge pages may be requested",
        ),
    ],
)
def test_pod_level_requests(level: dict[str, Any], requests: dict[str, int]) -> None:
    """KEP 2837: cpu, memory and huge pages on the pod level count instead of the containers'."""
    asked = {"cpu": "1", "memory": "1Mi", "x.io/y": "1"}
    assert made(containers=[container(**asked)], resources=level).requests == requests


def test_overhead_comes_on_top_of_the_pod_level() -> None:
    """The pod level replaces containers, not the runtime's own needs."""
    asking = made(
        containers=[container(cpu="1")], resources={"requests": {"cpu": "2"}}, overhead={"cpu": "1"}
    )
    assert asking.requests == {"cpu": 3000}


@pytest.mark.parametrize(
    ("status", "cpu"),
    [
        pytest.param(
            {"containerStatuses": [status_of("c", actuated={"cpu": "3"})]}, 3000, id="in force counts"
        ),
        pytest.param(
            {"containerStatuses": [status_of("c", actuated={"cpu": "1"}, allocated={"cpu": "4"})]},
            4000,
            id="allocated counts",
        ),
        pytest.param(
            {"containerStatuses": [status_of("c", actuated={"cpu": "1"})]}, 2000, id="the largest counts"
        ),
        pytest.param(
            {"containerStatuses": [status_of("c", actuated=None, allocated={"cpu": "4"})]},
            2000,
            id="without resources in the status only the spec counts",
        ),
        pytest.param(
            {"containerStatuses": [status_of("x", actuated={"cpu": "9"})]}, 2000, id="names must match"
        ),
        pytest.param(
            {
                "containerStatuses": [status_of("c", actuated={"cpu": "1"})],
                "conditions": [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}],
            },
            1000,
            id="an infeasible resize does not count",
        ),
        pytest.param(
            {
                "containerStatuses": [status_of("c", actuated={"cpu": "1"})],
                "conditions": [{"type": "PodResizePending", "status": "True", "reason": "Deferred"}],
            },
            2000,
            id="a deferred one does",
        ),
    ],
)
def test_resize_counts_as_the_largest(status: dict[str, Any], cpu: int) -> None:
    """KEP 1287. For a pod that is still to be placed, only the spec counts."""
    asking = made(containers=[container(cpu="2")], status=status)
    assert asking.requests == {"cpu": cpu}
    assert asking.asked.incoming == {"cpu": 2000}


def test_resize_of_sidecars_counts_and_of_init_containers_does_not() -> None:
    """An init container that has ended cannot be resized."""
    statuses = [status_of("s", actuated={"cpu": "4"}), status_of("i", actuated={"cpu": "9"})]
    asking = made(
        status={"initContainerStatuses": statuses},
        initContainers=[sidecar("s", cpu="1"), container("i", cpu="1")],
    )
    assert asking.requests == {"cpu": 5000}


def test_resize_on_the_pod_level() -> None:
    """KEP 5419: what the pod's status shows counts as for a container."""
    level = {"requests": {"cpu": "2"}}
    status = {"resources": {"requests": {"cpu": "3"}}, "allocatedResources": {"cpu": "1"}}
    asking = made(containers=[container(cpu="1")], resources=level, status=status)
    assert (asking.requests, asking.asked.incoming) == ({"cpu": 3000}, {"cpu": 2000})


NONE = {"cpu": 100, "memory": 200 * MI}


@pytest.mark.parametrize(
    ("asking", "existing", "incoming"),
    [
        pytest.param(
            made(containers=[container()]), (100, 200 * MI), NONE, id="a default for who names nothing"
        ),
        pytest.param(
            made(containers=[container(), container(cpu="1")]),
            (1100, 400 * MI),
            {"cpu": 1100, "memory": 400 * MI},
            id="per container and resource",
        ),
        pytest.param(
            made(containers=[container(cpu="0", memory="0")]),
            (0, 0),
            {"cpu": 0, "memory": 0},
            id="an explicit zero stays zero",
        ),
        pytest.param(
            made(containers=[container(cpu="1")], initContainers=[sidecar(cpu="1")]),
            (2000, 400 * MI),
            {"cpu": 2000, "memory": 400 * MI},
            id="sidecars get defaults as well",
        ),
        pytest.param(
            made(containers=[container(), container(memory="1Mi")], resources={"requests": {"cpu": "1"}}),
            (1000, MI),
            {"cpu": 200, "memory": 201 * MI},
            id="on the pod level, a running pod gets no default where anyone names the resource",
        ),
        pytest.param(
            made(containers=[container(), container()], resources={"requests": {"cpu": "1"}}),
            (1000, 400 * MI),
            {"cpu": 200, "memory": 400 * MI},
            id="on the pod level, a resource nobody names gets its default",
        ),
    ],
)
def test_defaults_for_scoring(asking: Pod, existing: tuple[int, int], incoming: dict[str, int]) -> None:
    """A pod on a node (types.go) and one to be placed (resource_allocation.go) may differ."""
    assert asking.nonzero_requests == existing
    assert asking.asked.scoring == incoming


@pytest.mark.parametrize(
    ("name", "counted"),
    [
        ("cpu", True),
        ("ephemeral-storage", True),
        ("nvidia.com/gpu", True),
        ("hugepages-1Gi", True),
        ("kubernetes.io/batteries", True),
        ("attachable-volumes-aws-ebs", True),
        ("pods", False),
        ("storage", False),
        ("requests.nvidia.com/gpu", False),
        ("a/b/c", False),
        ("-bad/gpu", False),
        ("vendor/" + "x" * 64, False),
    ],
)
def test_which_resources_count(name: str, counted: bool) -> None:
    """Standard resources and scalars, as upstream's IsScalarResourceName."""
    assert is_counted(name) is counted


def test_allocatable_keeps_the_number_of_pods() -> None:
    """It is a limit of its own, not a resource that pods request."""
    listed = {"cpu": "3920m", "memory": "1Gi", "pods": "110", "vendor": "3", "nvidia.com/gpu": "8"}
    assert allocatable(listed) == {"cpu": 3920, "memory": 1024 * MI, "pods": 110, "nvidia.com/gpu": 8}


def test_host_ports_are_those_of_running_containers() -> None:
    """Init containers that end hold no port; address and protocol have defaults; repetition counts once."""

    def ports(*numbers: int) -> list[dict[str, Any]]:
        return [{"containerPort": 80, "hostPort": number} for number in numbers]

    asking = made(
        containers=[
            {
                "name": "a",
                "ports": [*ports(80, 0, 80), {"hostPort": 53, "protocol": "UDP", "hostIP": "10.0.0.1"}],
            }
        ],
        initContainers=[
            {"name": "i", "ports": ports(81)},
            {"name": "s", "restartPolicy": "Always", "ports": ports(82)},
        ],
    )
    assert asking.host_ports == (("0.0.0.0", "TCP", 82), ("0.0.0.0", "TCP", 80), ("10.0.0.1", "UDP", 53))


def test_a_changed_copy_works_everything_out_anew() -> None:
    """Derived values belong to one version of the pod."""
    small = pod("a").cpu("1")
    assert small.requests == {"cpu": 1000}
    assert small.cpu("2").requests == {"cpu": 2000}


def test_binding_keeps_what_was_derived() -> None:
    """The amounts do not depend on the node, so they are not worked out again."""
    small = pod("a").cpu("1")
    known = small.requests
    placed = small.assigned_to("n")
    assert placed.node_name == "n"
    assert placed.requests is known
    assert small.node_name == ""


def test_pods_that_ask_alike_share_what_was_worked_out() -> None:
    """Neither another pod of the workload nor an update of the status works anything out again."""
    known = made(containers=[container("a", cpu="1")]).asked
    assert made({"phase": "Running"}, containers=[container("b", cpu="1")]).asked is known


@pytest.mark.parametrize(
    ("spec", "status"),
    [
        pytest.param({"containers": [container(cpu="2")]}, {}, id="containers"),
        pytest.param({"initContainers": [container(cpu="5")]}, {}, id="init containers"),
        pytest.param({"overhead": {"cpu": "2"}}, {}, id="overhead"),
        pytest.param({"resources": {"requests": {"cpu": "3"}}}, {}, id="the pod level"),
        pytest.param({}, {"containerStatuses": [status_of("c", actuated={"cpu": "3"})]}, id="a resize"),
        pytest.param(
            {}, {"initContainerStatuses": [status_of("s", actuated={"cpu": "3"})]}, id="a sidecar's resize"
        ),
    ],
)
def test_an_update_that_asks_for_more_shares_nothing(spec: dict[str, Any], status: dict[str, Any]) -> None:
    """Any part that may change the sum."""
    base = {"containers": [container(cpu="1")], "initContainers": [sidecar("s", cpu="1")]}
    old, new = made(**base), made(status, **(base | spec))
    assert new.requests != old.requests


def test_a_resize_on_the_pod_level_is_not_shared() -> None:
    """Neither what is in force nor what is allocated, nor that it turns out infeasible."""
    level = {"requests": {"cpu": "2"}}
    old = made(resources=level, status={"resources": {"requests": {"cpu": "1"}}})
    infeasible = {"type": "PodResizePending", "reason": "Infeasible"}
    for status, cpu in (
        ({"resources": {"requests": {"cpu": "3"}}}, 3000),
        ({"resources": {"requests": {"cpu": "1"}}, "allocatedResources": {"cpu": "4"}}, 4000),
        ({"resources": {"requests": {"cpu": "1"}}, "conditions": [infeasible]}, 1000),
    ):
        assert old.requests == {"cpu": 2000}
        new = made(status, resources=level)
        assert new.requests == {"cpu": cpu}


def test_an_infeasible_resize_may_leave_a_default() -> None:
    """What the spec names does not count then, so the container has no memory request in force."""
    asked = [container(cpu="1", memory="1Mi")]
    status = {
        "containerStatuses": [status_of("c", actuated={"cpu": "1"})],
        "conditions": [{"type": "PodResizePending", "reason": "Infeasible"}],
    }
    assert made(status, containers=asked).nonzero_requests == (1000, 200 * MI)

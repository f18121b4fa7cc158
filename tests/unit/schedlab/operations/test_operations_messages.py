"""The message of an unschedulable pod comes apart as kube-scheduler put it together."""

from __future__ import annotations

import pytest

from schedlab.operations.messages import parse


@pytest.mark.parametrize(
    ("message", "nodes", "because", "rest"),
    [
        pytest.param(
            "0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available: 3 No victims.",
            3,
            {"Insufficient cpu": 3},
            "preemption: 0/3 nodes are available: 3 No victims.",
            id="what preemption says does not count",
        ),
        pytest.param(
            "0/12 nodes are available: 10 Insufficient nvidia.com/gpu, 2 node(s) didn't match pod topology "
            "spread constraints (missing required label).",
            12,
            {
                "Insufficient nvidia.com/gpu": 10,
                "node(s) didn't match pod topology spread constraints (missing required label)": 2,
            },
            "",
            id="a dot inside a resource name ends nothing",
        ),
        pytest.param(
            "0/2 nodes are available: 2 node(s) had taint {key: a, value: b}.",
            2,
            {"node(s) had taint {key: a, value: b}": 2},
            "",
            id="a comma inside a reason separates nothing",
        ),
        pytest.param(
            '0/2 nodes are available: persistentvolumeclaim "data" not found. not found',
            2,
            {},
            'persistentvolumeclaim "data" not found. not found',
            id="a PreFilter plugin counts no nodes",
        ),
        pytest.param(
            "no nodes available to schedule pods", 0, {}, "no nodes available to schedule pods", id="no nodes"
        ),
        pytest.param("Scheduling is blocked", None, {}, "Scheduling is blocked", id="another text"),
    ],
)
def test_parts(message: str, nodes: int | None, because: dict[str, int], rest: str) -> None:
    """Nodes, counted reasons, and whatever follows."""
    found = parse(message)
    assert (found.nodes, found.because, found.rest) == (nodes, because, rest)

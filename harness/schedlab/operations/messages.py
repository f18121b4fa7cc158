"""What the PodScheduled condition of an unschedulable pod says, taken apart.

kube-scheduler writes `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint(s).
preemption: …`: the number of nodes, then for each reason how many nodes gave it, then what PostFilter plugins
add. If a PreFilter plugin rejects the pod, its sentence stands in place of the counted reasons. Follows
`FitError.Error` in pkg/scheduler/framework/types.go.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_HEAD = re.compile(r"^0/(\d+) nodes are available:\s*")
_COUNTED = re.compile(r"(\d+) (.+?)(?=, \d+ |\. |\.$|$)")
NO_NODES = "no nodes available to schedule pods"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The parts of a message. `nodes` is None if it is not of this form."""

    nodes: int | None
    because: dict[str, int] = field(default_factory=dict)
    rest: str = ""


def parse(message: str) -> Diagnosis:
    """Take a message apart; a reason that counts no nodes is part of `rest`."""
    if message.startswith(NO_NODES):
        return Diagnosis(nodes=0, rest=message)
    head = _HEAD.match(message)
    if head is None:
        return Diagnosis(nodes=None, rest=message)
    because: dict[str, int] = {}
    position = head.end()
    while counted := _COUNTED.match(message, position):
        because[counted[2]] = int(counted[1])
        position = counted.end()
        if not message.startswith(", ", position):
            break
        position += 2
    return Diagnosis(nodes=int(head[1]), because=because, rest=message[position:].lstrip(". "))

"""The table of node profiles in docs/fleets.md, made from `manifests/nodes`.

`python -m schedlab.cluster.profile_table` prints it.
"""

from __future__ import annotations

import sys

from schedlab.cluster import nodes
from schedlab.cluster.nodes import Profile

_REACH = {"none": "", "node": "in the machine", "rack": "through the rack"}


def markdown() -> str:
    """One line for each profile: what it is, what it has, and what of that pods can use."""
    head = "| profile | GPUs | memory of each | product label | NVLink | CPUs | memory | extended resources |"
    lines = [head, "| --- " * 8 + "|"]
    lines += [_row(nodes.profile(name)) for name in nodes.profiles()]
    return "\n".join(lines) + "\n"


def _row(machine: Profile) -> str:
    labels, allocatable = machine.labels, machine.allocatable
    extended = [f"`{name}` {amount}" for name, amount in machine.capacity.items() if "/" in name]
    memory = labels.get("nvidia.com/gpu.memory")
    cells = (
        f"`{machine.name}`",
        labels.get("nvidia.com/gpu.count", ""),
        f"{memory} MiB" if memory else "",
        labels.get("nvidia.com/gpu.product", ""),
        _REACH[machine.nvlink],
        f"{machine.capacity['cpu']} ({allocatable['cpu']})",
        f"{machine.capacity['memory']} ({allocatable['memory']})",
        ", ".join(extended),
    )
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    sys.stdout.write(markdown())

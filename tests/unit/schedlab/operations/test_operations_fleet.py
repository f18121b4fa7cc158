"""`nodes: {fleet: …}` makes the machines of a line, and nothing else beside it."""

from __future__ import annotations

import asyncio

import msgspec
import pytest
from operations_world import RecordingEnv, World

from schedlab.errors import UsageError
from schedlab.operations.base import OperationError
from schedlab.operations.nodes import Nodes


async def test_a_fleet_is_created_and_waited_for() -> None:
    """All of it, and its names are bound."""
    env = RecordingEnv(World())
    task = asyncio.create_task(msgspec.convert({"fleet": "1 rack x 2 gb200, 1 cpu"}, Nodes).run(env, 5.0))
    await asyncio.wait({task}, timeout=0.05)
    assert await task == ["gb200-nvl72-0", "gb200-nvl72-1", "cpu-32-0"]
    assert env.done[-1] == ("seen", "cpu-32-0")
    racks = [
        node["metadata"]["labels"].get("topology.schedlab/rack") for node in env.history.current.list("Node")
    ]
    assert sorted(map(str, racks)) == ["None", "gb200-nvl72-rack-0", "gb200-nvl72-rack-0"]


@pytest.mark.parametrize(
    "more", [{"profile": "cpu-32"}, {"count": 2}, {"zones": ["a"]}, {"labels": {"a": "b"}}]
)
async def test_a_fleet_says_everything_about_its_nodes(more: dict[str, object]) -> None:
    """Other fields would be lost without a word."""
    with pytest.raises(OperationError, match="`fleet` says everything"):
        await msgspec.convert({"fleet": "1 cpu", **more}, Nodes).run(RecordingEnv(World()), 1.0)


async def test_a_mistake_in_the_line_is_told_with_its_place() -> None:
    """As on the command line."""
    with pytest.raises(UsageError, match="fleet, character 3"):
        await msgspec.convert({"fleet": "1 gpu"}, Nodes).run(RecordingEnv(World()), 1.0)

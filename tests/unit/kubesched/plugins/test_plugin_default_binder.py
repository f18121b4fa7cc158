"""DefaultBinder: one request, whose refusal is the pod's error."""

import pytest
from plugin_world import World

from kubesched.clock import VirtualClock
from kubesched.framework import PluginError
from kubesched.framework.binding_points import BindingPoints
from kubesched.plugins.default_binder import build
from kubesched.testing.builders import node, pod


class Writes:
    """Accepts bindings, or refuses them with `refusal`."""

    def __init__(self, refusal=None):
        self.refusal = refusal
        self.bound = []

    async def bind(self, pod, node_name):
        if self.refusal:
            raise ConnectionError(self.refusal)
        self.bound.append((pod.name, node_name))


def binding(writer):
    world = World(build, node("n1"))
    world.handle.writer = writer
    return BindingPoints(VirtualClock(), binds=[build(None, world.handle)]), world.cycle(pod("p"))


async def test_it_posts_the_binding():
    """The pod and its node reach the writer once."""
    writes = Writes()
    points, cycle = binding(writes)
    assert await points.run_bind(cycle, "n1") is None
    assert writes.bound == [("p", "n1")]


async def test_a_refusal_is_the_pods_error():
    """The answer of the API server ends up in the event, with upstream's words before it."""
    points, cycle = binding(Writes(refusal="pods is forbidden"))
    with pytest.raises(PluginError, match=r'^running Bind plugin "DefaultBinder": pods is forbidden$'):
        await points.run_bind(cycle, "n1")


async def test_without_a_writer_nothing_is_bound():
    """Explain builds the same plugins, but must never pretend to have bound anything."""
    points, cycle = binding(None)
    status = await points.run_bind(cycle, "n1")
    assert status.message == 'running Bind plugin "DefaultBinder": this scheduler writes nothing'

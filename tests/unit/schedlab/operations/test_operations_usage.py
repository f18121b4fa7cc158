"""`usage` declares what pods and machines use, or says what is wrong with the declaration."""

from __future__ import annotations

import msgspec
import pytest
from operations_world import RecordingEnv, World

from schedlab.errors import SchedlabError
from schedlab.kubelet.courses import Course
from schedlab.kubelet.usage import Declared
from schedlab.operations.usage import Usage


class Env(RecordingEnv):
    def __init__(self) -> None:
        super().__init__(World())
        self.usage = Declared()


async def run(**fields: object) -> Declared:
    env = Env()
    await msgspec.convert(fields, Usage).run(env, 1.0)
    return env.usage


async def test_what_pods_use_is_declared() -> None:
    """In the test's namespace, by the names in the file."""
    leak = {"from": "1Gi", "perSecond": "10Mi"}
    (rule,) = (await run(selector={"app": "web"}, container="c", memory=leak, volumes={"v": "1Gi"})).pods
    assert (rule.namespace, rule.selector, rule.container) == ("ns", {"app": "web"}, "c")
    assert rule.amounts == {"memory": Course(from_="1Gi", per_second="10Mi")}
    assert rule.volumes == {"v": "1Gi"}


async def test_what_a_machine_uses_is_declared() -> None:
    """Besides its pods, with its size."""
    (rule,) = (await run(node="n", nodefsInodes=5, unusedImages="1Gi", capacity={"pids": 100})).nodes
    assert rule.node == "n"
    assert rule.amounts == {"nodefsInodes": 5, "unusedImages": "1Gi"}
    assert rule.capacity == {"pids": 100}


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"memory": "1Gi"}, "whose usage"),
        ({"pod": "a", "node": "n", "memory": "1Gi"}, "whose usage"),
        ({"pod": "a", "nodefs": "1Gi"}, "pods: there is no nodefs"),
        ({"node": "n", "logs": "1Gi"}, "a machine: there is no logs"),
        ({"node": "n", "volumes": {"v": 1}}, "about pods"),
        ({"node": "n", "container": "c"}, "about pods"),
        ({"pod": "a", "capacity": {"pids": 1}}, "that of a machine"),
        ({"node": "n", "capacity": {"disk": 1}}, "no machine has disk"),
        ({"pod": "a", "memory": "lots"}, "'lots' is not a quantity"),
        ({"pod": "a", "memory": {"from": "1Gi"}}, "changes in one way"),
    ],
)
async def test_a_declaration_that_makes_no_sense_is_refused(fields: dict[str, object], words: str) -> None:
    """When it is made, not when a kubelet looks."""
    with pytest.raises(SchedlabError) as caught:
        await run(**fields)
    assert words in caught.value.message
    assert caught.value.hint

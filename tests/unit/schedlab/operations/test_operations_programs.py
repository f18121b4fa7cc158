"""Writes with an expectation, programs, and what is shown: each fails where it should."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from operations_world import RecordingEnv, World

from schedlab.api.errors import ApiError
from schedlab.api.objects import Object
from schedlab.operations import registry
from schedlab.operations.base import Action, Finished, Scope, Unmet

POD: dict[str, Any] = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "w", "labels": {"a": "b"}}}


class Refusing(RecordingEnv):
    """An API server that takes nothing."""

    async def create(self, item: Object) -> Object:
        raise ApiError("create", 422, "Invalid", f"{item['metadata']['name']} is invalid")


async def run(tag: str, env: RecordingEnv, /, **fields: object) -> Any:
    operation = registry.decode(tag, fields)
    assert isinstance(operation, Action)
    return await operation.run(env, 5.0)


async def test_a_refusal_that_is_expected_is_no_failure() -> None:
    """With the reason bound."""
    checks = [{"check": {"($error != null)": True, "($error.contains('is invalid'))": True}}]
    assert await run("create", Refusing(World()), resource=POD, expect=checks) == POD


async def test_an_expectation_that_is_not_met_is_told_with_what_came() -> None:
    """Accepted where it should not have been, or refused for another reason."""
    refused = [{"check": {"($error != null)": True}}]
    with pytest.raises(Unmet, match="it was accepted"):
        await run("create", RecordingEnv(World()), resource=POD, expect=refused)
    other = [{"check": {"($error.contains('forbidden'))": True}}]
    with pytest.raises(Unmet, match="it was refused: create: w is invalid"):
        await run("create", Refusing(World()), resource=POD, expect=other)


async def test_an_expectation_is_for_what_it_matches() -> None:
    """A refusal that nothing was said about stays one."""
    others = [{"match": {"metadata": {"labels": {"a": "c"}}}, "check": {"($error != null)": True}}]
    with pytest.raises(ApiError):
        await run("create", Refusing(World()), resource=POD, expect=others)
    await run("create", RecordingEnv(World()), resource=POD, expect=others)


async def test_the_answer_is_checked() -> None:
    """As the API server returned it."""
    for tag in ("apply", "create", "patch"):
        env = RecordingEnv(World(), Scope("ns", {"label": "b"}))
        await run(tag, env, resource=POD, expect=[{"check": {"metadata": {"labels": {"a": "($label)"}}}}])
        with pytest.raises(Unmet, match="expected 'x', seen 'b'"):
            await run(tag, env, resource=POD, expect=[{"check": {"metadata": {"labels": {"a": "x"}}}}])


async def test_a_command_is_judged_by_its_exit_code_or_its_check() -> None:
    """A check takes the place of the exit code."""
    env = RecordingEnv(World())
    env.ended = Finished("three pods\n", "", 0)
    more = [{"name": "X", "value": "1"}]
    answer = await run("command", env, entrypoint="kubectl", args=["get", "a b"], env=more)
    assert env.done == [("run", "kubectl", "get", "a b", "X=1")]
    assert answer == {"stdout": "three pods\n", "stderr": "", "exitCode": 0, "error": None}
    env.ended = Finished("", "oh no", 2)
    with pytest.raises(Unmet, match="exitCode: expected 0, seen 2; stderr: oh no"):
        await run("command", env, entrypoint="kubectl")
    await run("command", env, entrypoint="kubectl", check={"($stderr.contains('no'))": True, "exitCode": 2})
    with pytest.raises(Unmet, match="expected True, seen False"):
        await run("command", env, entrypoint="kubectl", check={"($error == null)": True})
    assert env.notes[-1] == "command kubectl: exit code 2\nstderr: oh no"


async def test_a_script_goes_through_a_shell_that_stops_at_an_error() -> None:
    """And is one argument."""
    env = RecordingEnv(World())
    await run("script", env, content="a; b")
    assert env.done == [("run", "sh", "-e", "-c", "a; b")]


async def test_objects_are_shown_with_or_without_their_events() -> None:
    """As they are in the record; what is not there is told."""
    world = World()
    pod = world.pod("w", node="n-1")
    pod["metadata"]["managedFields"] = [{"manager": "x"}]
    world.event("w", "Scheduled", "assigned")
    env = RecordingEnv(world)
    await run("get", env, apiVersion="v1", kind="Pod", name="w")
    await run("describe", env, apiVersion="v1", kind="Pod", name="w")
    assert "nodeName: n-1" in env.notes[0]
    assert "managedFields" not in env.notes[0]
    assert "events:" not in env.notes[0]
    assert env.notes[1].endswith("events:\n    Normal Scheduled Pod w: assigned")
    await run("get", env, apiVersion="v1", kind="Pod", labels={"no": "body"})
    assert env.notes[2] == "get: there is no a Pod with no=body"


async def test_the_end_of_the_log_is_shown() -> None:
    """Of the lines that are asked for."""
    env = RecordingEnv(World())
    env.log = [f"line {number} about {'a' if number % 2 else 'b'}" for number in range(10)]
    await run("logs", env, tail=2, contains="about a")
    assert env.notes == ["log of the scheduler:\n  line 7 about a\n  line 9 about a"]


async def test_owned_objects_are_deleted_as_the_test_says() -> None:
    """Or as the API server does it by itself."""
    world = World()
    world.pod("w")
    env = RecordingEnv(world)
    ref = {"apiVersion": "v1", "kind": "Pod", "name": "w"}
    await run("delete", env, ref=ref, wait=False, deletionPropagationPolicy="Orphan")
    assert env.done[-1] == ("delete", "Pod ns/w", "v1", "None", "Orphan")
    with pytest.raises(msgspec.ValidationError):
        await run("delete", env, ref=ref, deletionPropagationPolicy="orphan")

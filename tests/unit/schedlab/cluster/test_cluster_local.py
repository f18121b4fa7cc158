"""A start that fails says why, keeps the logs, and leaves nothing running."""

import asyncio
import os
from pathlib import Path

import pytest

from schedlab.cluster import local
from schedlab.cluster.api import takes_pods
from schedlab.cluster.backend import ClusterSpec
from schedlab.cluster.fleet import Batch
from schedlab.cluster.local import LocalBackend
from schedlab.cluster.nodes import NodeGroup
from schedlab.cluster.state import Registry
from schedlab.cluster.tools import Tool, Tools
from schedlab.cluster.versions import LOCAL_BACKEND
from schedlab.errors import EnvironmentStartError, UsageError


@pytest.fixture
def spec(script, tmp_path):
    """A control plane of scripts: etcd says something and ends, the others sleep."""

    def make(etcd="echo no space left; exit 7", **fields):
        bodies = dict.fromkeys(LOCAL_BACKEND, "exec sleep 60") | {"etcd": etcd}
        made = [
            Tool(name, script(tmp_path / "bin" / name, body), "1", "here") for name, body in bodies.items()
        ]
        return ClusterSpec(**{"name": "lab", "tools": Tools(made), **fields})

    return make


@pytest.fixture
def privates(monkeypatch):
    """The private directories that were made."""
    made = []
    original = local.plan

    def remember(directory):
        layout = original(directory)
        made.append(layout.private)
        return layout

    monkeypatch.setattr(local, "plan", remember)
    return made


async def test_a_component_that_ends_is_reported_with_its_last_words(spec, privates):
    """At once, not after the time for a start; its whole log is kept."""
    with pytest.raises(EnvironmentStartError, match="etcd ended with exit code 7:\nno space left") as caught:
        await LocalBackend().up(spec())
    kept = Path(caught.value.hint.rpartition(" ")[2])
    assert (kept / "etcd.log").read_text() == "no space left\n"
    assert Registry().records() == []
    assert not privates[0].exists()


async def test_a_wrong_flag_is_reported_without_the_usage(spec, privates):
    """Programs print pages of it before they say what is wrong."""
    usage = "echo 'Usage: etcd [flags]'; echo 'Error: unknown flag: --nope'; exit 1"
    with pytest.raises(EnvironmentStartError) as caught:
        await LocalBackend().up(spec(usage))
    assert caught.value.message == "etcd ended with exit code 1:\nError: unknown flag: --nope"


async def test_a_component_that_never_answers_is_given_up(spec, privates, monkeypatch):
    """The message names it; what runs is ended."""
    monkeypatch.setattr(local, "_START_SECONDS", 0.3)
    with pytest.raises(EnvironmentStartError, match="etcd was not healthy within 0 s"):
        await LocalBackend().up(spec(etcd="exec sleep 60"))
    assert not privates[0].exists()


async def test_an_interrupted_start_leaves_nothing(spec, privates):
    """Ctrl-C cancels the task that waits."""
    start = asyncio.create_task(LocalBackend().up(spec(etcd="exec sleep 60")))
    while not (records := Registry().records()) or not records[0].processes:
        await asyncio.wait({start}, timeout=0.01)
    (etcd,) = records[0].processes
    start.cancel()
    with pytest.raises(asyncio.CancelledError):
        await start
    assert not etcd.identity.alive
    assert not privates[0].exists()
    assert Registry().records() == []


async def test_a_given_run_directory_keeps_the_logs_of_a_failure(spec, tmp_path):
    """The hint points there."""
    with pytest.raises(EnvironmentStartError) as caught:
        await LocalBackend().up(spec(runtime_dir=tmp_path / "run"))
    assert str(tmp_path / "run" / "logs") in caught.value.hint
    assert (tmp_path / "run" / "logs" / "etcd.log").read_text() == "no space left\n"


async def test_a_run_directory_that_cannot_be_made_is_reported(spec, privates, tmp_path):
    """By name, before anything is started."""
    (tmp_path / "file").write_text("")
    with pytest.raises(EnvironmentStartError, match=r"file.* cannot be made: Not a directory"):
        await LocalBackend().up(spec(runtime_dir=tmp_path / "file" / "run"))
    assert not privates[0].exists()
    assert Registry().records() == []


async def test_programs_get_a_clean_environment(spec, monkeypatch):
    """No credentials, no KUBECONFIG, but the marker by which the reaper knows them."""
    monkeypatch.setenv("KUBECONFIG", "/home/me/production")
    with pytest.raises(EnvironmentStartError) as caught:
        await LocalBackend().up(spec(etcd="env; exit 1"))
    assert "SCHEDLAB_CLUSTER=lab-" in caught.value.message
    assert "production" not in caught.value.message


async def test_a_malformed_name_is_refused_before_anything_is_made(spec, privates):
    """Nothing to clean up."""
    with pytest.raises(UsageError):
        await LocalBackend().up(spec(name="Lab!"))
    assert privates == []


async def test_machines_that_share_a_name_are_refused_before_anything_is_made(spec, privates):
    """They come from `nodes` and from `fleet`, which count each for itself."""
    with pytest.raises(UsageError, match="two machines are called t4x1-0"):
        await LocalBackend().up(spec(nodes=[NodeGroup("t4x1", 1)], fleet=[Batch("t4x1", 2)]))
    assert privates == []


def test_a_large_cluster_has_slow_heartbeats_unless_flags_say_otherwise(spec):
    """Machines of both kinds count; a flag that is given wins."""
    large = spec(nodes=[NodeGroup("t4x1", 300)], fleet=[Batch("cpu-32", 500)])
    assert large.paced().kwok_flags == {"node-lease-duration-seconds": "80"}
    assert large.paced().controller_flags == {"node-monitor-grace-period": "100s"}
    given = spec(fleet=[Batch("cpu-32", 800)], controller_flags={"node-monitor-grace-period": "9s"})
    assert given.paced().controller_flags == {"node-monitor-grace-period": "9s"}
    assert not spec(nodes=[NodeGroup("t4x1", 300)]).paced().kwok_flags


async def test_missing_programs_are_reported_before_anything_is_made(privates):
    """With what to run."""
    with pytest.raises(EnvironmentStartError, match="not installed: etcd, kube-apiserver"):
        await LocalBackend().up(ClusterSpec(name="lab"))
    assert privates == []


async def test_the_owner_is_this_program_until_a_start_is_complete(spec):
    """Even for the background: a killed `schedlab up` must be reaped."""
    start = asyncio.create_task(LocalBackend().up(spec(etcd="exec sleep 60", background=True)))
    while not (records := Registry().records()):
        await asyncio.wait({start}, timeout=0.01)
    assert records[0].owner.pid == os.getpid()
    start.cancel()
    await asyncio.wait({start})


@pytest.mark.parametrize(
    ("ready", "taints", "expected"),
    [
        ("True", [], True),
        ("True", ["gpu"], True),
        ("True", ["node.kubernetes.io/not-ready"], False),
        ("Unknown", [], False),
        (None, [], False),
    ],
)
def test_a_node_takes_pods_once_ready_and_without_the_first_taint(ready, taints, expected):
    """Every new node is tainted by the API server until a controller has seen it Ready."""
    node = {"status": {}, "spec": {"taints": [{"key": key} for key in taints]}}
    if ready is not None:
        node["status"]["conditions"] = [{"type": "Ready", "status": ready}]
    assert takes_pods(node) is expected

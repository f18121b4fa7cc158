"""Stand-ins that the tests of the cluster package share."""

import stat

import pytest

from schedlab.cluster.progress import Progress
from schedlab.cluster.tool_cache import ToolCache
from schedlab.cluster.versions import PROGRAMS


@pytest.fixture(autouse=True)
def own_directories(tmp_path, monkeypatch):
    """Keep tests away from the user's caches, state and programs."""
    monkeypatch.setenv("SCHEDLAB_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("SCHEDLAB_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    for program in PROGRAMS.values():
        monkeypatch.delenv(program.asset_variable, raising=False)


@pytest.fixture
def cache(tmp_path):
    """An empty cache."""
    return ToolCache(tmp_path / "cache")


class Recorder(Progress):
    """Remembers what was reported."""

    def __init__(self):
        self.notes = []
        self.tasks = []

    def note(self, text):
        self.notes.append(text)

    def _begin(self, task):
        self.tasks.append(task)


@pytest.fixture
def progress():
    """A reporter that remembers."""
    return Recorder()


def says(program, version=None):
    """What a program prints when it is asked for its version."""
    wording = {"etcd": "etcd Version: {}", "kwok": "kwok version v{} go1.26", "kind": "kind version {}"}
    wording |= {"kubectl": "Client Version: v{}"}
    return wording.get(program.name, "Kubernetes v{}").format(version or program.version)


@pytest.fixture
def script(tmp_path):
    """Writes an executable shell script."""

    def write(path, body):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    return write


@pytest.fixture
def fake_tool(script):
    """Writes a script that answers for a program with a version."""

    def write(directory, name, version=None):
        return script(directory / name, f"echo '{says(PROGRAMS[name], version)}'")

    return write

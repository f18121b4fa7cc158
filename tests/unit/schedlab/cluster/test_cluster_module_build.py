"""A program of another version is built from a `go.mod` that names what its own module names."""

import json

import pytest

from schedlab.cluster import build, module_build, versions
from schedlab.cluster.go_toolchain import Go
from schedlab.cluster.versions import Module
from schedlab.errors import EnvironmentStartError, UsageError

OLD = versions.programs(["kube-scheduler@1.34.4"])[0]
GO_MOD = """module k8s.io/kubernetes

go 1.24.0

require k8s.io/api v0.0.0

replace (
\tk8s.io/api => ./staging/src/k8s.io/api
\tgithub.com/x/y => github.com/z/y v1.2.3
)

replace github.com/one/line v0.1.0 => github.com/other/line v0.2.0
"""
FAKE_GO = """
echo "$@" >> {calls}
case "$1" in
env) echo go1.26.5 ;;
mod) cat {answer} ;;
list) echo m stale ;;
build)
  cat go.mod > {calls}.mod
  cat go.sum > {calls}.sum
  while [ "$1" != -o ]; do shift; done
  printf '#!/bin/sh\\necho Kubernetes v1.34.4\\n' > "$2/kube-scheduler"
  chmod +x "$2/kube-scheduler"
  ;;
esac
"""


@pytest.fixture
def go(script, tmp_path, monkeypatch):
    """Puts a `go` first on PATH that finds a module with some `go.mod`, and writes down how it was called."""

    def put(go_mod=GO_MOD, error=""):
        source = tmp_path / "source"
        source.mkdir()
        (source / "go.mod").write_text(go_mod)
        (source / "go.sum").write_text("github.com/z/y v1.2.3 h1:x=\n")
        (tmp_path / "answer").write_text(json.dumps({"Dir": str(source), "Error": error}))
        calls = tmp_path / "calls"
        path = script(tmp_path / "bin" / "go", FAKE_GO.format(calls=calls, answer=tmp_path / "answer"))
        monkeypatch.setenv("PATH", f"{path.parent}:/usr/bin:/bin")
        return Go(path, "go1.26.5"), calls

    return put


def test_another_version_is_built_beside_the_pinned_one(go, cache, progress):
    """With the version stamped in, so that it says which it is."""
    _, calls = go()
    build.install([OLD], cache, progress)
    (command,) = (line for line in calls.read_text().splitlines() if line.startswith("build"))
    assert "-X k8s.io/component-base/version.gitVersion=v1.34.4" in command
    assert "-mod=mod" in command
    assert "v1.34.4" in cache.path(OLD).parent.name
    assert cache.path(OLD) != cache.path(versions.PROGRAMS["kube-scheduler"])
    assert "k8s.io/kubernetes@v1.34.4" in cache.origin(OLD).source


def test_replacements_are_taken_over_and_staging_is_what_was_published(go, cache, progress):
    """`go` ignores the replacements of a module that is required."""
    _, calls = go()
    build.install([OLD], cache, progress)
    lines = (calls.parent / "calls.mod").read_text().splitlines()
    assert lines[1:] == [
        "go 1.24.0",
        "require k8s.io/kubernetes v1.34.4",
        "replace k8s.io/api => k8s.io/api v0.34.4",
        "replace github.com/x/y => github.com/z/y v1.2.3",
        "replace github.com/one/line => github.com/other/line v0.2.0",
    ]
    assert (calls.parent / "calls.sum").read_text() == "github.com/z/y v1.2.3 h1:x=\n"


@pytest.mark.parametrize(
    ("go_mod", "error", "message"),
    [
        (GO_MOD, "403 Forbidden", r"cannot be fetched: 403 Forbidden"),
        (GO_MOD.replace("1.24.0", "1.99"), "", r"needs Go 1\.99"),
        ("module m\n\nreplace a.b/c => ../c\n", "", r"replaces a\.b/c by its directory \.\./c"),
    ],
    ids=["not to be had", "newer Go", "a directory"],
)
def test_what_cannot_be_built_is_refused_before_it_is_tried(go, tmp_path, go_mod, error, message):
    command, calls = go(go_mod, error)
    (tmp_path / "out").mkdir()
    with pytest.raises(EnvironmentStartError, match=message):
        module_build.lay_out(Module("example.com/m", "v0.1.0"), tmp_path / "out", command)
    assert "build" not in calls.read_text()


def test_the_pinned_version_is_the_pinned_program():
    """Naming it makes no second one."""
    pinned = versions.PROGRAMS["kube-scheduler"]
    assert (
        versions.programs([f"kube-scheduler@{versions.KUBERNETES}", "kube-scheduler@v1.36.3"]) == [pinned] * 2
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [("kwok@0.1.0", "can be had at version"), ("kube-scheduler@old", "not a version of Kubernetes")],
)
def test_versions_that_there_are_not_are_refused(name, message):
    with pytest.raises(UsageError, match=message):
        versions.programs([name])


def test_a_module_can_be_built_with_another_release_of_kubernetes(go, tmp_path):
    """All of it: the modules of one release fit together only."""
    own = "module m\n\nreplace (\n"
    own += "\tk8s.io/kubernetes => k8s.io/kubernetes v1.34.7\n\tk8s.io/api => k8s.io/api v0.34.7\n"
    command, _ = go(own + "\ta.b/c => a.b/d v1.2.3\n)\n")
    (tmp_path / "out").mkdir()
    module_build.lay_out(Module("example.com/m", "v0.1.0", "1.34.4"), tmp_path / "out", command)
    replaced = (tmp_path / "out" / "go.mod").read_text().splitlines()[3:]
    assert [line.split()[-1] for line in replaced] == ["v1.34.4", "v0.34.4", "v1.2.3"]


def test_a_module_without_kubernetes_cannot_have_another(go, tmp_path):
    command, _ = go("module m\n")
    (tmp_path / "out").mkdir()
    with pytest.raises(EnvironmentStartError, match="pins no version of Kubernetes"):
        module_build.lay_out(Module("example.com/m", "v0.1.0", "1.34.4"), tmp_path / "out", command)

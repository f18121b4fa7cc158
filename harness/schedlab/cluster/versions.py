"""The one place where the versions of everything that schedlab runs are pinned.

`controlplane/go.mod` pins the same versions for the build from Go modules, `controlplane/go-toolchain.txt`
the toolchain for machines that have none; a unit test holds the three together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from schedlab.errors import UsageError

KUBERNETES = "1.36.3"
ETCD = "3.6.8"
KWOK = "0.8.0"
KIND = "0.33.0"


@dataclass(frozen=True, slots=True)
class Release:
    """Where a program's official release lies, below the base URL of `host`, and its published checksum.

    `{os}` and `{arch}` stand for the platform. `checksum` is a file that holds the digest of `file`, alone or
    in a list of digests and names. `member` is the program's path where `file` is a tar archive.
    """

    host: str
    file: str
    checksum: str
    algorithm: str
    member: str = ""


@dataclass(frozen=True, slots=True)
class Program:
    """One program of the laboratory: its name, its version, where its source is, how it says its version.

    `package` is the Go package that `controlplane/go.mod` pins and `built_name` what `go build` calls it.
    `version_argv` makes the program print its version, in which `version_pattern` finds it. `release` is None
    where the project publishes no checksum: what cannot be verified is built instead.
    """

    name: str
    version: str
    package: str
    built_name: str
    version_argv: tuple[str, ...]
    version_pattern: re.Pattern[str]
    release: Release | None

    @property
    def asset_variable(self) -> str:
        """The environment variable that names this program's file, as controller-runtime's envtest does."""
        return "TEST_ASSET_" + self.name.upper().replace("-", "_")


def _kubernetes(name: str, version_argv: tuple[str, ...] = ("--version",)) -> Program:
    file = f"v{KUBERNETES}/bin/{{os}}/{{arch}}/{name}"
    return Program(
        name=name,
        version=KUBERNETES,
        package=f"k8s.io/kubernetes/cmd/{name}",
        built_name=name,
        version_argv=version_argv,
        version_pattern=re.compile(r"(?:Kubernetes|Client Version:) v(\S+)"),
        release=Release("kubernetes", file, f"{file}.sha512", "sha512"),
    )


_ETCD_RELEASE = f"etcd-io/etcd/releases/download/v{ETCD}"
_ETCD_STEM = f"etcd-v{ETCD}-{{os}}-{{arch}}"
_KIND_RELEASE = f"kubernetes-sigs/kind/releases/download/v{KIND}/kind-{{os}}-{{arch}}"

PROGRAMS: dict[str, Program] = {
    program.name: program
    for program in (
        Program(
            name="etcd",
            version=ETCD,
            package="go.etcd.io/etcd/server/v3",
            built_name="server",
            version_argv=("--version",),
            version_pattern=re.compile(r"etcd Version: (\S+)"),
            release=Release(
                "github",
                f"{_ETCD_RELEASE}/{_ETCD_STEM}.tar.gz",
                f"{_ETCD_RELEASE}/SHA256SUMS",
                "sha256",
                member=f"{_ETCD_STEM}/etcd",
            ),
        ),
        _kubernetes("kube-apiserver"),
        _kubernetes("kube-controller-manager"),
        _kubernetes("kube-scheduler"),
        _kubernetes("kubectl", ("version", "--client")),
        Program(
            name="kwok",
            version=KWOK,
            package="sigs.k8s.io/kwok/cmd/kwok",
            built_name="kwok",
            version_argv=("--version",),
            version_pattern=re.compile(r"kwok version v(\S+)"),
            release=None,
        ),
        Program(
            name="kind",
            version=KIND,
            package="sigs.k8s.io/kind",
            built_name="kind",
            version_argv=("--version",),
            version_pattern=re.compile(r"kind version (\S+)"),
            release=Release("github", _KIND_RELEASE, f"{_KIND_RELEASE}.sha256sum", "sha256"),
        ),
    )
}

LOCAL_BACKEND = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kwok")
"""What the local backend and tests on it need; what `schedlab tools install` installs by default."""


def programs(names: Iterable[str]) -> list[Program]:
    """The programs called `names`.

    Raises:
        UsageError: there is no program of that name here.
    """
    found = []
    for name in names:
        if name not in PROGRAMS:
            raise UsageError(f"schedlab has no program {name!r}", hint=f"it has {', '.join(PROGRAMS)}")
        found.append(PROGRAMS[name])
    return found

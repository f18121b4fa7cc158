"""The one place where the versions of everything that schedlab runs are pinned.

`controlplane/go.mod` pins the same versions for the build from Go modules, `controlplane/go-toolchain.txt`
the toolchain for machines that have none; a unit test holds the three together. Beside the pinned ones there
may be programs of Kubernetes at any other version (`kube-scheduler@1.34.4`), to be compared with them.
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
class Module:
    """A Go module at one version, such as `k8s.io/kubernetes` at `v1.34.4`.

    With `kubernetes` it is built with that version of Kubernetes (`1.34.4`) instead of the one it names.
    """

    path: str
    version: str
    kubernetes: str = ""

    def __str__(self) -> str:
        return f"{self.path}@{self.version}"


@dataclass(frozen=True, slots=True)
class Program:
    """One program of the laboratory: its name, its version, where its source is, how it says its version.

    `package` is its Go package, which `controlplane/go.mod` pins or `module` holds, and `built_name` what
    `go build` calls it. `version_argv` makes the program print its version, in which `version_pattern` finds
    it; without one it is not asked. `release` is None where the project publishes no checksum: what cannot be
    verified is built instead.
    """

    name: str
    version: str
    package: str
    built_name: str
    version_argv: tuple[str, ...]
    version_pattern: re.Pattern[str]
    release: Release | None
    module: Module | None = None

    @property
    def key(self) -> str:
        """By what it is asked for: its name, with its version unless that is the pinned one."""
        return f"{self.name}@{self.version}" if self.module else self.name

    @property
    def asset_variable(self) -> str:
        """The environment variable that names this program's file, as controller-runtime's envtest does."""
        return "TEST_ASSET_" + self.name.upper().replace("-", "_")


_KUBERNETES_MODULE = "k8s.io/kubernetes"
_VERSION = re.compile(r"\d+\.\d+\.\d+(-[a-z]+\.\d+)?")


def _kubernetes(
    name: str, version_argv: tuple[str, ...] = ("--version",), version: str = KUBERNETES
) -> Program:
    file = f"v{version}/bin/{{os}}/{{arch}}/{name}"
    return Program(
        name=name,
        version=version,
        package=f"{_KUBERNETES_MODULE}/cmd/{name}",
        built_name=name,
        version_argv=version_argv,
        version_pattern=re.compile(r"(?:Kubernetes|Client Version:) v(\S+)"),
        release=Release("kubernetes", file, f"{file}.sha512", "sha512"),
        module=None if version == KUBERNETES else Module(_KUBERNETES_MODULE, f"v{version}"),
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
    """The programs called `names`, each at its pinned version or at one of its own (`kube-scheduler@1.34.4`).

    Raises:
        UsageError: there is no program of that name here, or not at other versions.
    """
    return [_program(name) for name in names]


def _program(name: str) -> Program:
    bare, at, version = name.partition("@")
    program = PROGRAMS.get(bare)
    if program is None:
        raise UsageError(f"schedlab has no program {bare!r}", hint=f"it has {', '.join(PROGRAMS)}")
    version = version.removeprefix("v")
    if not at or version == program.version:
        return program
    if not program.package.startswith(f"{_KUBERNETES_MODULE}/"):
        raise UsageError(f"{bare} can be had at version {program.version} only", hint="leave its version out")
    if not _VERSION.fullmatch(version):
        raise UsageError(f"{name}: {version!r} is not a version of Kubernetes", hint="write it as 1.34.4")
    return _kubernetes(bare, program.version_argv, version)

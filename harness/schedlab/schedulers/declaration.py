"""`kind: Scheduler`: how to start a scheduler, and how to know that it is ready."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field, inspect
from msgspec.structs import replace

from schedlab import data
from schedlab.cluster.versions import Module, Program, programs
from schedlab.errors import UsageError
from schedlab.suite.check import Checker
from schedlab.suite.document import Document
from schedlab.suite.positions import LoadError, Problem, did_you_mean
from schedlab.suite.typed import convert, single
from schedlab.suite.types import Duration, Metadata

PLACEHOLDERS = ("config", "kubeconfig", "pod", "port", "program", "python", "server", "state", "tools")
_TOOLS = "{tools}/"
_PLACEHOLDER = re.compile(r"\{([A-Za-z_]+)\}")


class _Part(Struct, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """A part of a declaration; unknown fields are errors."""


class Readiness(_Part):
    """When the scheduler can be tested: it answers 200 at a path of its own port."""

    scheme: Literal["https", "http"] = "https"
    path: str = "/readyz"
    timeout: Annotated[Duration, Meta(description="By when it must be ready.")] = "60s"


class Build(_Part):
    """A program to be built from a Go module, once, and kept in the cache."""

    module: Annotated[str, Meta(min_length=1, description="Such as sigs.k8s.io/scheduler-plugins.")]
    version: Annotated[str, Meta(pattern=r"^v\d+\.\d+\.\d+\S*$", description="As Go writes it: v0.34.7.")]
    package: Annotated[str, Meta(min_length=1, description="The package of its main function.")]
    kubernetes: Annotated[
        str,
        Meta(
            pattern=r"^(1\.\d+\.\d+)?$",
            description="Build it with this release of Kubernetes instead of the one that the module names.",
        ),
    ] = ""

    def program(self) -> Program:
        """The program as the cache knows it."""
        return Program(
            name=self.package.replace("/", "_"),
            version=self.version.removeprefix("v") + (f"+k8s-{self.kubernetes}" if self.kubernetes else ""),
            package=self.package,
            built_name=self.package.rpartition("/")[2],
            version_argv=(),
            version_pattern=re.compile(""),
            release=None,
            module=Module(self.module, self.version, self.kubernetes),
        )


class Spec(_Part, kw_only=True):
    """How to start it."""

    description: str = ""
    command: Annotated[
        list[str],
        Meta(
            min_length=1,
            description="Program and arguments. `{config}`, `{kubeconfig}`, `{port}`, `{server}`, `{python}` "
            "are replaced, `{program}` by what `build` made, and `{tools}/NAME` by the path of a control "
            "plane program, which may be of another version: `{tools}/kube-scheduler@1.34.4`. A relative "
            "program is looked for beside this file, a bare name in PATH.",
        ),
    ]
    build: Annotated[
        Build | None,
        Meta(description="Where `{program}` comes from; `schedlab tools install FILE` makes it."),
    ] = None
    environment: Annotated[dict[str, str], Meta(description="Added to a minimal environment.")] = {}
    version: Annotated[list[str], Meta(description="A command that prints the version, for reports.")] = []
    config: Annotated[
        dict[str, Any],
        Meta(
            description="Its KubeSchedulerConfiguration. The kubeconfig, and leaderElect: false, are filled "
            "in where it does not say otherwise."
        ),
    ] = {}
    readiness: Readiness = field(default_factory=Readiness)
    explain: Annotated[
        list[str],
        Meta(
            description="A command that explains a pod, for failed tests: `{pod}` is its namespace/name, "
            "`{state}` a file with all objects (a List in JSON)."
        ),
    ] = []
    explain_lines: Annotated[
        list[str],
        Meta(
            description="A command that explains many states, for comparisons: a question per line of its "
            "input, an answer per line of its output, as `kubesched explain --input-format jsonl` does."
        ),
    ] = []
    log: Annotated[
        Literal["", "kube-scheduler"],
        Meta(
            description="`kube-scheduler` if it logs what kube-scheduler logs and calls HTTP extenders as "
            "that does: then comparisons see its scores and feasible nodes."
        ),
    ] = ""


class Declaration(_Part):
    """One scheduler."""

    api_version: Literal["schedlab/v1alpha1"]
    kind: Literal["Scheduler"]
    metadata: Metadata
    spec: Spec


class SchedulerSpec(Struct, frozen=True):
    """A scheduler that can be started: its declaration, and the directory that relative paths start from."""

    name: str
    spec: Spec
    directory: Path = field(default_factory=Path)

    def programs(self) -> list[Program]:
        """What has to be installed for it beside the programs of a control plane.

        Raises:
            UsageError: it names a program that there is not.
        """
        arguments = (*self.spec.command, *self.spec.version, *self.spec.explain, *self.spec.explain_lines)
        named = (one.removeprefix(_TOOLS) for one in arguments if one.startswith(_TOOLS))
        found = programs(dict.fromkeys(name for name in named if "@" in name))
        return [*found, *([self.spec.build.program()] if self.spec.build else [])]

    def fill(
        self, arguments: Sequence[str], values: Mapping[str, str], tools: Mapping[str, Path]
    ) -> list[str]:
        """A command with its placeholders replaced.

        Raises:
            UsageError: it names a control plane program that there is not.
        """
        return [self._filled(argument, values, tools) for argument in arguments]

    def _filled(self, argument: str, values: Mapping[str, str], tools: Mapping[str, Path]) -> str:
        if argument.startswith(_TOOLS):
            name = argument.removeprefix(_TOOLS)
            if name not in tools:
                raise UsageError(
                    f"scheduler {self.name}: there is no control plane program {name!r}",
                    hint=did_you_mean(name, list(tools)),
                )
            return str(tools[name])
        return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), argument)


def built_in() -> list[str]:
    """The names of the schedulers that ship with schedlab."""
    return sorted(path.stem for path in data.path("manifests/schedulers").glob("*.yaml"))


def declared(name_or_path: str) -> SchedulerSpec:
    """The scheduler of a name that ships with schedlab, at a version if one is named, or of a file.

    Raises:
        UsageError: there is none of that name.
        LoadError: the file is wrong; with every problem in it.
    """
    if name_or_path.endswith((".yaml", ".yml")):
        return load(Path(name_or_path).resolve())
    name, at, version = name_or_path.partition("@")
    if at:
        return _at_version(declared(name), version)
    if name_or_path not in built_in():
        raise UsageError(
            f"there is no scheduler {name_or_path!r}",
            hint=f"use one of {', '.join(built_in())}, or the path of a declaration (.yaml)",
        )
    return load(data.path("manifests/schedulers") / f"{name_or_path}.yaml")


def _at_version(scheduler: SchedulerSpec, version: str) -> SchedulerSpec:
    """A scheduler that is a control plane program, at a version of that program."""
    program = scheduler.spec.command[0]
    if not program.startswith(_TOOLS):
        raise UsageError(
            f"scheduler {scheduler.name} is there at one version only", hint=f"leave out @{version}"
        )
    (wanted,) = programs([f"{program.removeprefix(_TOOLS)}@{version}"])

    def at(arguments: list[str]) -> list[str]:
        return [f"{_TOOLS}{wanted.key}" if one == program else one for one in arguments]

    spec = replace(scheduler.spec, command=at(scheduler.spec.command), version=at(scheduler.spec.version))
    return SchedulerSpec(f"{scheduler.name}@{wanted.version}", spec, scheduler.directory)


def load(path: Path) -> SchedulerSpec:
    """The scheduler that a file declares.

    Raises:
        LoadError: with every problem of the file.
    """
    doc = single(path, "Scheduler")
    problems = [*Checker(path).check(doc.node, inspect.type_info(Declaration)), *_unknown_placeholders(doc)]
    if problems:
        raise LoadError(problems)
    typed = convert(doc, Declaration)
    return SchedulerSpec(name=typed.metadata.name, spec=typed.spec, directory=path.parent)


def _unknown_placeholders(doc: Document) -> Iterator[Problem]:
    spec = doc.data.get("spec")
    for part in ("command", "version", "explain", "explainLines"):
        arguments = spec.get(part) if isinstance(spec, dict) else None
        for index, argument in enumerate(arguments if isinstance(arguments, list) else []):
            for name in _PLACEHOLDER.findall(str(argument)):
                if name not in PLACEHOLDERS:
                    hint = did_you_mean(name, PLACEHOLDERS)
                    yield Problem(
                        doc.position(("spec", part, index)), f"there is no placeholder {{{name}}}", hint
                    )

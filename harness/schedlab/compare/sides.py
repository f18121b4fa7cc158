"""The two schedulers of a comparison: found, given their configuration, installed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from schedlab.cluster import tools
from schedlab.cluster.progress import Progress
from schedlab.fuzz.commands import read_config
from schedlab.schedulers.configuration import merge
from schedlab.schedulers.declaration import SchedulerSpec, declared


@dataclass(frozen=True, slots=True)
class Side:
    """One scheduler with what is added to its declared configuration."""

    letter: str
    spec: SchedulerSpec
    config: dict[str, Any] = field(default_factory=dict)

    @property
    def configured(self) -> SchedulerSpec:
        """The scheduler with the added configuration as part of its declaration, under a name of its own."""
        if not self.config:
            return self.spec
        merged = merge(self.spec.spec.config, self.config)
        return replace_spec(self.spec, f"{self.spec.name}-{self.letter}", config=merged)


def replace_spec(scheduler: SchedulerSpec, name: str, **changes: object) -> SchedulerSpec:
    """A scheduler that is declared otherwise in some fields."""
    spec = msgspec.structs.replace(scheduler.spec, **changes)
    return msgspec.structs.replace(scheduler, name=name, spec=spec)


def side(letter: str, name_or_path: str, config: Path | None) -> Side:
    """The scheduler of a name, a name and a version, or a file.

    Raises:
        UsageError: there is none, or the file of its configuration is none.
    """
    return Side(letter, declared(name_or_path), read_config(config))


def install(side: Side, progress: Progress) -> None:
    """Get what the scheduler needs and is not there: another version is downloaded or built.

    Raises:
        EnvironmentStartError: it cannot be had.
    """
    if wanted := side.spec.programs():
        tools.installed(wanted, progress)


def distinct(a: Side, b: Side) -> tuple[Side, Side]:
    """The same two, by names that differ, also if they are one program in two configurations."""
    if a.configured.name != b.configured.name:
        return a, b
    a, b = (
        replace(one, spec=msgspec.structs.replace(one.spec, name=f"{one.spec.name}-{one.letter}"))
        for one in (a, b)
    )
    return a, b

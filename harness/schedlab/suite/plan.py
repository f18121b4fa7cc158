"""A loaded test: what the runner works on.

Operations stay as they were written until they run, since expressions in them get their values only then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from schedlab.api.objects import Object
from schedlab.suite.positions import Position
from schedlab.suite.types import Metadata, Spec, Timeouts


@dataclass(frozen=True, slots=True)
class PlannedOperation:
    """One entry of a step: the operation's key, its fields as written, and where it stands."""

    tag: str
    fields: Mapping[str, Any]
    position: Position


@dataclass(frozen=True, slots=True)
class PlannedBinding:
    """A binding of one step, and where it stands."""

    name: str
    value: Any
    position: Position


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A step with its operations."""

    name: str
    timeouts: Timeouts
    try_: Sequence[PlannedOperation]
    catch: Sequence[PlannedOperation]
    finally_: Sequence[PlannedOperation]
    cleanup: Sequence[PlannedOperation]
    bindings: Sequence[PlannedBinding] = ()


@dataclass(frozen=True, slots=True)
class Test:
    """One test, checked; `files` holds the documents of every file that its operations name."""

    __test__ = False

    path: Path
    metadata: Metadata
    spec: Spec
    steps: Sequence[PlannedStep]
    catch: Sequence[PlannedOperation]
    files: Mapping[str, Sequence[Object]] = field(default_factory=dict)
    control_plane: Position | None = None
    """Where the file says how the control plane must run."""
    scenario: str = ""
    """Which row of `spec.scenarios` it is run with, if it has any."""

    @property
    def name(self) -> str:
        """The test's own name."""
        return self.metadata.name

    @property
    def area(self) -> str:
        """The folder that the test's folder lies in, such as `filters`."""
        return self.path.parent.parent.name

    @property
    def full_name(self) -> str:
        """The name with the scenario's; a name has no dots, so it stays clear which is which."""
        return f"{self.name}.{self.scenario}" if self.scenario else self.name

    @property
    def id(self) -> str:
        """`area/name`: how the test is called everywhere."""
        return f"{self.area}/{self.full_name}" if self.area else self.full_name

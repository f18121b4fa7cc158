"""What a comparison has found, as data: how much was compared, and every cause of a difference.

The same structure is printed as a table, written as JSON, and described by `schedlab schema compare`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from schedlab.api.objects import Object
from schedlab.compare.levels import Fact

VERSION = 1


class Party(Struct, frozen=True, rename="camel"):
    """One of the two schedulers."""

    name: str
    config: Annotated[dict[str, Any], Meta(description="What was added to its declaration.")] = {}
    seen_by: Annotated[str, Meta(description="How its decisions were learned.")] = ""


class Coverage(Struct, rename="camel"):
    """How many decisions (or pods of suites) one level was compared for."""

    compared: int = 0
    different: int = 0
    absent: Annotated[int, Meta(description="There is none: no node is scored if one is left.")] = 0
    unobserved: Annotated[int, Meta(description="One side does not show it.")] = 0
    follows: Annotated[int, Meta(description="It must differ, since an earlier stage does.")] = 0


class Cause(Struct, rename="camel"):
    """All differences that look alike, with the smallest of them as an example."""

    level: str
    cause: str
    count: int
    plugin: Annotated[str, Meta(description="The first plugin on which they part, if one is shown.")] = ""
    node: Annotated[str, Meta(description="The first node on which they part, if one is shown.")] = ""
    a: Fact = None
    b: Fact = None
    where: Annotated[str, Meta(description="The test, or the seed of the case, of the example.")] = ""
    places: Annotated[list[str], Meta(description="Some of all tests or cases.")] = []
    confirmed: Annotated[
        bool | None, Meta(description="Whether it shows again in a state of its own; null: not asked.")
    ] = None
    objects: Annotated[list[Object], Meta(description="The state of the example.")] = []
    pod: Object | None = None


class Comparison(Struct, rename="camel"):
    """A whole comparison."""

    a: Party
    b: Party
    mode: Literal["fuzz", "suites"]
    version: int = VERSION
    command: str = ""
    seconds: float = 0.0
    compared: Annotated[int, Meta(description="Decisions, or pods of suites.")] = 0
    levels: dict[str, Coverage] = {}
    causes: list[Cause] = []
    ties: Annotated[int, Meta(description="Pods of suites on other nodes, which may be ties.")] = 0
    discarded: dict[str, int] = {}
    notes: list[str] = field(default_factory=list)

    @property
    def different(self) -> bool:
        """True if there is any difference."""
        return bool(self.causes)

    @property
    def blind(self) -> bool:
        """True if nothing could be compared."""
        return not any(coverage.compared for coverage in self.levels.values())

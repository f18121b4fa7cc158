"""What a feature of the generator is: it draws itself into a case, and can be taken out of a recorded one.

Taking it out is what makes coverage honest: a feature counts as exercised by a decision only if the decision
would have been another one without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from schedlab.fuzz.blueprint import Blueprint

Object = dict[str, Any]


class Feature(Protocol):
    """One thing that scheduling depends on."""

    name: str

    def draw(self, plan: Blueprint) -> None:
        """Decorate nodes and pods, and add objects; choices come from `plan.draw.fork(self.name)`."""
        ...

    def strip(self, objects: Sequence[Object], pod: Object) -> None:
        """Undo the feature in a recorded state and in the pod to be decided, in place."""
        ...


def pods_in(objects: Sequence[Object]) -> list[Object]:
    """The pods among recorded objects."""
    return [obj for obj in objects if obj["kind"] == "Pod"]


def nodes_in(objects: Sequence[Object]) -> list[Object]:
    """The nodes among recorded objects."""
    return [obj for obj in objects if obj["kind"] == "Node"]

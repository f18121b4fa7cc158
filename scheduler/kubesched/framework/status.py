"""What a plugin answers: a code, the reasons, and the plugin that gave them.

`None` stands for success everywhere, so that the common answer costs nothing. Codes and their meaning
follow upstream `k8s.io/kube-scheduler/framework` (1.36).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum


class Code(IntEnum):
    """The seven answers a plugin can give, under upstream's names."""

    Success = 0
    Error = 1
    Unschedulable = 2
    UnschedulableAndUnresolvable = 3
    Wait = 4
    Skip = 5
    Pending = 6


_REJECTED = frozenset({Code.Unschedulable, Code.UnschedulableAndUnresolvable, Code.Pending})


@dataclass(frozen=True, slots=True)
class Status:
    """One answer of one plugin; immutable, equal by content."""

    code: Code
    reasons: tuple[str, ...] = ()
    plugin: str = ""

    @property
    def message(self) -> str:
        """The reasons as events and conditions show them."""
        return ", ".join(self.reasons)

    @property
    def is_rejected(self) -> bool:
        """The pod cannot be placed now; Pending counts as a rejection, as upstream."""
        return self.code in _REJECTED

    @property
    def is_unresolvable(self) -> bool:
        """No eviction on the node can change this answer."""
        return self.code is Code.UnschedulableAndUnresolvable

    def by(self, plugin: str) -> Status:
        """The same answer, attributed to `plugin`."""
        return replace(self, plugin=plugin)


def unschedulable(*reasons: str) -> Status:
    """A rejection that evicting pods might lift."""
    return Status(Code.Unschedulable, reasons)


def unresolvable(*reasons: str) -> Status:
    """A rejection that evicting pods cannot lift."""
    return Status(Code.UnschedulableAndUnresolvable, reasons)


def error(*reasons: str) -> Status:
    """A failure of the plugin itself; the pod is retried soon and no plugin is held responsible."""
    return Status(Code.Error, reasons)


SKIP = Status(Code.Skip)
"""PreFilter, PreScore, PreBind or Bind has nothing to say about this pod."""

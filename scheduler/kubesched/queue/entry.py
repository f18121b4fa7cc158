"""A pod that waits, with what the queue remembers of its attempts.

Follows upstream `framework.QueuedPodInfo` (1.36).
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum

from kubesched.api.objects import Pod


class Place(StrEnum):
    """Where a pod is; it is in exactly one place."""

    ACTIVE = "active"
    BACKOFF = "backoff"
    UNSCHEDULABLE = "unschedulable"
    GATED = "gated"
    IN_FLIGHT = "in_flight"


@dataclass(slots=True, eq=False)
class Entry:
    """One waiting pod; the same object travels through all places until the pod is bound or gone.

    Times are seconds of the queue's clock. The plugin sets are replaced, never changed in place, so a
    caller may hand over the sets of its diagnosis. After a pop they still hold the previous attempt's
    rejectors, for logs; whoever puts the pod back sets both anew.
    """

    uid: str
    pod: Pod
    timestamp: float
    """When the pod was last put into the queue; refreshed after each failed attempt."""
    order: int
    """Breaks ties in `timestamp`: the order in which entries were stamped."""
    attempts: int = 0
    unschedulable_count: int = 0
    """Attempts that ended in a rejection: the exponent of the backoff."""
    consecutive_errors: int = 0
    """Errors in a row since the last rejection: the exponent of the error backoff."""
    backoff_expiration: float | None = None
    """When the backoff ends; None until it is needed, and again after each attempt."""
    initial_attempt_timestamp: float | None = None
    """When the pod first became active; never refreshed."""
    unschedulable_plugins: AbstractSet[str] = frozenset()
    pending_plugins: AbstractSet[str] = frozenset()
    gating_plugin: str = ""
    """The PreEnqueue plugin that keeps the pod out of the active queue."""
    was_flushed_from_unschedulable: bool = False
    """No event woke this pod, only the periodic flush did: a sign of a lost event or a wrong hint."""

    @property
    def rejectors(self) -> AbstractSet[str]:
        """Every plugin whose events can wake the pod; empty after an error."""
        if not self.pending_plugins:
            return self.unschedulable_plugins
        return self.unschedulable_plugins | self.pending_plugins

    @property
    def is_gated(self) -> bool:
        """Whether a PreEnqueue plugin keeps the pod from becoming active."""
        return self.gating_plugin != ""

    def clear_rejectors(self) -> None:
        """Forget who rejected the pod, so that no plugin of an earlier attempt is held responsible."""
        self.unschedulable_plugins = frozenset()
        self.pending_plugins = frozenset()

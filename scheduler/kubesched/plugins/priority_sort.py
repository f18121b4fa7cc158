"""PrioritySort: the highest priority first, then the pod that waits longest.

Follows upstream `queuesort/priority_sort.go` (1.36).
"""

from __future__ import annotations

from typing import ClassVar

from kubesched.framework import QueuedPod


class PrioritySort:
    """Orders the active queue."""

    name: ClassVar[str] = "PrioritySort"

    def less(self, left: QueuedPod, right: QueuedPod) -> bool:
        """Whether `left` is to be tried before `right`."""
        first, second = left.pod.priority, right.pod.priority
        return first > second or (first == second and left.timestamp < right.timestamp)

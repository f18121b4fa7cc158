"""Pods between Permit and Bind: a preemptor may still cancel them, until they are marked as bound.

Follows upstream `framework/runtime/pods_in_prebind_map.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Callable


class PrebindingPod:
    """One pod whose PreBind plugins run; either the cancellation or the end of PreBind comes first."""

    def __init__(self, cancel: Callable[[str], None]) -> None:
        self._cancel = cancel
        self.cancelled: str | None = None
        self._finished = False

    def cancel(self, message: str) -> bool:
        """Stop the binding; False when it is too late."""
        if self._finished:
            return False
        if self.cancelled is None:
            self.cancelled = message
            self._cancel(message)
        return True

    def finish(self) -> bool:
        """Close the window for cancelling; False when a preemptor was faster."""
        if self.cancelled is not None:
            return False
        self._finished = True
        return True


class PrebindingPods:
    """The pods in PreBind of all profiles, by uid."""

    def __init__(self) -> None:
        self._by_uid: dict[str, PrebindingPod] = {}

    def add(self, uid: str, cancel: Callable[[str], None]) -> PrebindingPod:
        """Open the window; `cancel` is called at most once, with the preemptor's message."""
        pod = self._by_uid[uid] = PrebindingPod(cancel)
        return pod

    def get(self, uid: str) -> PrebindingPod | None:
        """The pod in PreBind, or None."""
        return self._by_uid.get(uid)

    def remove(self, uid: str) -> None:
        """Forget the pod; its binding ended."""
        self._by_uid.pop(uid, None)

"""DefaultBinder: posts the pod's binding to the API server.

Follows upstream `defaultbinder/default_binder.go` (1.36).
"""

from __future__ import annotations

from typing import ClassVar

from kubesched.framework import Cycle, Handle, Status, error


class DefaultBinder:
    """Binds through the handle's writer."""

    name: ClassVar[str] = "DefaultBinder"

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    async def bind(self, cycle: Cycle, node_name: str) -> Status | None:
        """Bind the pod; raises what the writer raises when the API server refuses."""
        writer = self._handle.writer
        if writer is None:
            return error("this scheduler writes nothing")
        await writer.bind(cycle.pod, node_name)
        return None


def build(_args: object, handle: Handle) -> DefaultBinder:
    """Build the plugin."""
    return DefaultBinder(handle)

"""What the API server answers when it does not do what was asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schedlab.errors import SchedlabError


class ApiError(SchedlabError):
    """The API server refused a request, or could not be reached (status 0)."""

    def __init__(
        self, what: str, status: int, reason: str, message: str, details: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(f"{what}: {message}" + (f" ({status} {reason})" if status else ""))
        self.status = status
        self.reason = reason
        self.text = message
        self.details = dict(details or {})
        """The Status' details: causes, and when to try again."""

"""Times as the API writes them."""

from __future__ import annotations

from datetime import UTC, datetime


def seconds(wall: float) -> str:
    """RFC 3339 in UTC with whole seconds (`metav1.Time`)."""
    return f"{datetime.fromtimestamp(wall, UTC):%Y-%m-%dT%H:%M:%SZ}"


def micros(wall: float) -> str:
    """RFC 3339 in UTC with microseconds (`metav1.MicroTime`)."""
    return f"{datetime.fromtimestamp(wall, UTC):%Y-%m-%dT%H:%M:%S.%fZ}"

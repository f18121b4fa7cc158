"""What the API server forbade a user: a scheduler that asks for more than its role allows is no drop-in.

Only the authorizer's refusals count. Admission answers 403, too, for example while a namespace is going.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

_DECISION = "authorization.k8s.io/decision"


class _User(msgspec.Struct):
    username: str = ""


class _Event(msgspec.Struct):
    verb: str = ""
    uri: str = msgspec.field(default="", name="requestURI")
    user: _User = msgspec.field(default_factory=_User)
    annotations: dict[str, str] = {}


def refusals(log: Path, start: int, user: str) -> list[str]:
    """Verb and path of each request of a user that the audit log after `start` bytes shows as forbidden.

    Each is named once, in the order in which it was first asked.
    """
    if not log.exists():
        return []
    with log.open("rb") as file:
        file.seek(start)
        events = [msgspec.json.decode(line, type=_Event) for line in file if line.endswith(b"\n")]
    found = {
        f"{event.verb} {event.uri.partition('?')[0]}": None
        for event in events
        if event.user.username == user and event.annotations.get(_DECISION) == "forbid"
    }
    return list(found)

"""`events`: shows the Events of the test's namespace."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from schedlab.api.objects import Json, Object
from schedlab.operations.base import Action, Env


class Events(Action):
    """Print the Events about the test's objects in the report; for `catch`.

    To assert an Event, use `assert` with `apiVersion: events.k8s.io/v1, kind: Event`, or `scheduled`'s
    `event`.

    ```yaml
    catch:
    - events: {}
    ```
    """

    tag: ClassVar[str] = "events"

    name: Annotated[str | None, Meta(description="Only those about the object of this name.")] = None

    async def run(self, env: Env, seconds: float) -> Json:  # noqa: ARG002 - it waits for nothing
        """Note one line per event."""
        found = env.history.current.list("Event.events.k8s.io", env.scope.namespace)
        lines = [
            line(event) for event in found if self.name in (None, (event.get("regarding") or {}).get("name"))
        ]
        env.note("\n".join(["events:", *(f"  {text}" for text in lines or ["none"])]))


def line(event: Object) -> str:
    """An event on one line."""
    regarding = event.get("regarding") or {}
    about = f"{regarding.get('kind')} {regarding.get('name')}"
    times = (event.get("series") or {}).get("count") or event.get("deprecatedCount") or 1
    again = f" (x{times})" if times > 1 else ""
    return f"{event.get('type')} {event.get('reason')} {about}: {event.get('note')}{again}"

"""`logs`: show the end of the scheduler's log in the report."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from schedlab.api.objects import Json
from schedlab.operations.base import Action, Env
from schedlab.suite.types import Positive


class Logs(Action):
    """Print the last lines of the log of the scheduler under test in the report; for `catch`.

    What Chainsaw has `podLogs` for: here the scheduler is a process. The whole log is among the artefacts.

    ```yaml
    catch:
    - logs: {tail: 50, contains: trainer}
    ```
    """

    tag: ClassVar[str] = "logs"

    tail: Annotated[Positive, Meta(description="How many lines.")] = 20
    contains: Annotated[str, Meta(description="Only lines in which this text is.")] = ""

    async def run(self, env: Env, seconds: float) -> Json:  # noqa: ARG002 - it waits for nothing
        """Note the lines."""
        lines = [text for text in env.scheduler_log() if self.contains in text][-self.tail :]
        env.note("\n".join(["log of the scheduler:", *(f"  {text}" for text in lines or ["nothing"])]))

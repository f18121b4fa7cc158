"""What can go wrong for a user of schedlab, each with the way out.

Exit codes are pytest's up to 6; schedlab's own start at 10, so that CI can tell "the tests failed" from
"there was nothing to test on".
"""

from __future__ import annotations

from typing import ClassVar


class SchedlabError(Exception):
    """A failure that is reported as a message and a hint, never as a traceback.

    `hint` says what the reader can do about it. `exit_code` is what a command ends with when it meets the
    error.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def render(self) -> str:
        """Both parts as a command prints them: `error: …`, then `hint: …` if there is one."""
        lines = [f"error: {self.message}"]
        if self.hint:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)


class UsageError(SchedlabError):
    """The input is wrong: a flag, a file or a field in it (exit code 4, as pytest's)."""

    exit_code = 4


class EnvironmentStartError(SchedlabError):
    """There is no control plane to run on: a program is missing or does not start (exit code 10)."""

    exit_code = 10

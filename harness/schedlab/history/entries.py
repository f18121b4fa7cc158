"""What is written down: a revision of an object, a gap in a watch, something that befell a process."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

from schedlab.api.objects import Object, Ref, key_of, ref_of, version_of

ProcessChange = Literal["started", "ready", "signalled", "stopped", "exited"]
Change = Literal["ADDED", "MODIFIED", "DELETED"]


class Revision(msgspec.Struct, frozen=True, tag_field="entry", tag="revision"):
    """One object as it became at one moment.

    `at` is when the harness received it. `initial` marks what existed before the history began: its revision
    says that the object is there, not that it has just been added. A DELETED revision holds the object's last
    state, at the version of its deletion.
    """

    at: datetime
    type: Change
    object: Object
    initial: bool = False

    @property
    def kind(self) -> str:
        """The kind, with its group unless that is core."""
        return key_of(self.object)

    @property
    def ref(self) -> Ref:
        """The object's reference."""
        return ref_of(self.object)

    @property
    def uid(self) -> str:
        """The object's uid."""
        return self.ref.uid

    @property
    def version(self) -> int:
        """The resource version, a number that orders all writes."""
        return version_of(self.object)


class Gap(msgspec.Struct, frozen=True, tag_field="entry", tag="gap"):
    """A stretch in which revisions of a kind may be missing: the watch could not resume and listed anew.

    What the list showed is recorded, what happened in between is not known. An assertion about what never
    happened cannot be sure across a gap.
    """

    at: datetime
    kind: str
    after: int
    until: int
    reason: str


class ProcessEvent(msgspec.Struct, frozen=True, tag_field="entry", tag="process"):
    """A program that schedlab started or signalled, or whose end it noticed."""

    at: datetime
    process: str
    event: ProcessChange
    pid: int = 0
    code: int | None = None
    detail: str = ""
    credential: str = ""
    """By which the audit log knows what it writes."""


Entry = Revision | Gap | ProcessEvent

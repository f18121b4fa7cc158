"""When something was written, by the server's clock, as far as the audit log knows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from schedlab.history import History, Revision, Write
from schedlab.history.moments import written_at

START = datetime(2026, 1, 1, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


class Audit:
    def __init__(self, *times: float) -> None:
        self.times = times

    def writes(self):
        for time in self.times:
            yield Write(
                at=at(time),
                user="u",
                verb="patch",
                resource="pods",
                subresource="status",
                namespace="ns",
                name="p",
                code=200,
            )


def heard(*times: float, writes: tuple[float, ...]) -> tuple[History, list[Revision]]:
    """A pod's revisions, heard of at these times, and the writes that the audit log has."""
    history = History(audit=Audit(*writes))
    for version, time in enumerate(times, 1):
        metadata = {"name": "p", "namespace": "ns", "uid": "u", "resourceVersion": str(version)}
        history.append(Revision(at=at(time), type="MODIFIED", object={"kind": "Pod", "metadata": metadata}))
    return history, list(history.revisions("u"))


def anything(_write: Write) -> bool:
    return True


def test_a_revision_was_written_by_the_last_write_before_it_was_heard_of() -> None:
    """The server received it a little earlier."""
    history, (first, second) = heard(1.01, 5.02, writes=(1.0, 5.0, 9.0))
    assert written_at(history, first, anything) == at(1.0)
    assert written_at(history, second, anything) == at(5.0)


def test_a_write_that_the_audit_log_does_not_have_yet_is_not_taken_for_an_earlier_one() -> None:
    """A watch can be faster than the log; the time of hearing is close, an old write is not."""
    history, (_, second) = heard(3.5, 5.02, writes=(1.0,))
    assert written_at(history, second, anything) == at(5.02)


def test_only_a_write_that_can_have_made_the_revision_counts() -> None:
    """Others may come at any time."""
    history, (_, second) = heard(1.01, 5.02, writes=(1.0, 5.0, 5.01))
    assert written_at(history, second, lambda write: write.at != at(5.01)) == at(5.0)

"""A history answers what was, when it was, and who did it, and survives on disk."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from schedlab.api import Object
from schedlab.errors import UsageError
from schedlab.history import Gap, History, ProcessEvent, Revision
from schedlab.history.audit import CREDENTIAL, AuditLog
from schedlab.history.directory import RunDirectory, load

START = datetime(2026, 1, 1, tzinfo=UTC)


def item(name: str, version: int, kind: str = "Pod", **spec: object) -> Object:
    metadata = {"name": name, "namespace": "ns", "uid": f"uid-{name}", "resourceVersion": str(version)}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec}


def revision(kind: str, obj: Object, second: int = 0) -> Revision:
    return Revision(at=START + timedelta(seconds=second), type=kind, object=obj)  # type: ignore[arg-type]


@pytest.fixture
def history() -> History:
    """A pod that gets a node and goes, beside one that stays."""
    history = History()
    history.append(revision("ADDED", item("a", 1), 1))
    history.append(revision("ADDED", item("b", 2), 2))
    history.append(revision("MODIFIED", item("a", 4, nodeName="n1"), 4))
    history.append(revision("MODIFIED", item("a", 5, nodeName="n1", x=1), 5))
    history.append(revision("DELETED", item("a", 7, nodeName="n1"), 7))
    return history


def test_the_current_view_is_what_was_received(history: History) -> None:
    """By kind and name."""
    assert history.current.get("Pod", "a", "ns") is None
    assert history.current.get("Pod", "b", "ns") is not None
    assert [pod["metadata"]["name"] for pod in history.current.list("Pod")] == ["b"]


@pytest.mark.parametrize(
    ("version", "names"),
    [(0, []), (1, ["a"]), (3, ["a", "b"]), (6, ["a", "b"]), (7, ["b"])],
    ids=["before", "one", "both", "just before the deletion", "after it"],
)
def test_any_version_can_be_looked_at(history: History, version: int, names: list[str]) -> None:
    """Resource versions order all writes."""
    assert [pod["metadata"]["name"] for pod in history.at(version).list("Pod")] == names


def test_a_view_of_the_past_does_not_depend_on_the_order_of_receipt() -> None:
    """Kinds come over separate watches."""
    history = History()
    history.append(revision("MODIFIED", item("a", 4, nodeName="n1")))
    history.append(revision("ADDED", item("n1", 2, kind="Node")))
    history.append(revision("ADDED", item("a", 3)))
    pod = history.at(4).get("Pod", "a", "ns")
    assert pod is not None
    assert pod["spec"] == {"nodeName": "n1"}


def test_the_revisions_of_an_object_are_kept_after_its_end(history: History) -> None:
    """In order."""
    assert [r.version for r in history.revisions("uid-a")] == [1, 4, 5, 7]
    assert history.revisions("uid-none") == ()


def test_became_says_since_when_something_is_true(history: History) -> None:
    """Without a break, up to now; what is gone has no state."""
    assert history.became("uid-b", lambda pod: not pod["spec"]) == START + timedelta(seconds=2)
    assert history.became("uid-b", lambda pod: bool(pod["spec"])) is None
    assert history.became("uid-a", lambda pod: bool(pod["spec"])) is None


def test_a_listener_hears_each_entry_after_it_has_taken_effect(history: History) -> None:
    """Until it stops listening."""
    seen: list[object] = []
    stop = history.subscribe(lambda _entry: seen.append(history.current.get("Pod", "c", "ns")))
    history.append(revision("ADDED", item("c", 8)))
    stop()
    history.append(revision("DELETED", item("c", 9)))
    assert len(seen) == 1
    assert seen[0] is not None


def test_a_reference_finds_only_the_very_same_object(history: History) -> None:
    """A pod of the same name made later is another pod."""
    ref = history.revisions("uid-b")[0].ref
    assert history.current.find(ref) is not None
    later = item("b", 9)
    later["metadata"]["uid"] = "another"
    history.append(revision("DELETED", item("b", 8)))
    history.append(revision("ADDED", later))
    assert history.current.find(ref) is None


def audit_line(verb: str, user: str, stage: str = "ResponseComplete", code: int = 201, **ref: str) -> str:
    event = {
        "stage": stage,
        "verb": verb,
        "user": {"username": user, "extra": {CREDENTIAL: [f"of-{user}"]}},
        "stageTimestamp": "2026-01-01T00:00:01.000000Z",
        "requestReceivedTimestamp": "2026-01-01T00:00:00.000000Z",
        "objectRef": {"resource": "pods", **ref},
        "responseStatus": {"code": code},
        "requestObject": {"metadata": {"name": "from-body"}},
    }
    return json.dumps(event) + "\n"


def test_writes_come_from_the_audit_log_as_it_grows(tmp_path: Path) -> None:
    """Reads and unfinished requests are no writes; a half line is read later."""
    log = tmp_path / "audit.log"
    log.write_text(audit_line("create", "before", name="x"))
    audit = AuditLog(log)
    history = History(audit=audit)
    assert list(history.writes()) == []
    with log.open("a") as file:
        file.write(audit_line("get", "s", name="x"))
        file.write(audit_line("create", "s", "RequestReceived", name="x"))
        file.write(audit_line("create", "s", name="a", subresource="binding"))
        file.write(audit_line("create", "k", code=409))
        file.write(audit_line("patch", "s", name="z")[:20])
    assert [(w.user, w.name, w.subresource, w.succeeded) for w in history.writes()] == [
        ("s", "a", "binding", True),
        ("k", "from-body", "", False),
    ]
    with log.open("a") as file:
        file.write(audit_line("patch", "s", name="z")[20:])
    assert [w.name for w in history.writes(user="s")] == ["a", "z"]
    assert [w.name for w in history.writes(verb="patch")] == ["z"]
    assert {w.credential for w in history.writes()} == {"of-s", "of-k"}
    assert {w.done for w in history.writes()} == {datetime(2026, 1, 1, 0, 0, 1, tzinfo=UTC)}


def test_without_an_audit_log_no_writes_are_known(tmp_path: Path) -> None:
    """An empty answer, not an error: the backend says whether it provides `audit`."""
    assert list(History().writes()) == []
    assert list(History(audit=AuditLog(tmp_path / "none")).writes()) == []


def test_a_history_can_be_read_back_from_its_directory(tmp_path: Path) -> None:
    """Entries, gaps, process events, and the part of the audit log that belongs to it."""
    source = tmp_path / "audit.log"
    source.write_text(audit_line("create", "before", name="x"))
    audit = AuditLog(source)
    directory = RunDirectory(tmp_path / "run", {"test": "a/b"})
    history = History(sink=directory, audit=audit)
    history.append(revision("ADDED", item("a", 1)))
    history.append(Gap(at=START, kind="Pod", after=1, until=2, reason="410"))
    history.append(ProcessEvent(at=START, process="s", event="exited", code=1))
    with source.open("a") as file:
        file.write(audit_line("create", "during", name="y"))
    directory.keep_audit(audit)
    directory.close()
    history.append(revision("ADDED", item("late", 9)))
    again = load(tmp_path / "run")
    assert [r.ref.name for r in again] == ["a"]
    assert again.gaps == history.gaps
    assert again.processes == history.processes
    assert [w.user for w in again.writes()] == ["during"]


def test_a_log_is_kept_from_where_the_test_began(tmp_path: Path) -> None:
    """One scheduler serves many tests."""
    log = tmp_path / "s.log"
    log.write_text("before\nduring\n")
    directory = RunDirectory(tmp_path / "run", {})
    directory.close()
    assert directory.keep_log("s", log, 7).read_text() == "during\n"


def test_a_directory_that_is_no_history_is_refused(tmp_path: Path) -> None:
    """Or one of another version."""
    with pytest.raises(UsageError, match="holds no history"):
        load(tmp_path)
    RunDirectory(tmp_path, {"version": 99}).close()
    with pytest.raises(UsageError, match="version 99"):
        load(tmp_path)


def test_what_a_secret_hides_is_not_written_down(tmp_path: Path) -> None:
    """A run directory is kept and sent around; the history in memory still has it, for assertions."""
    hidden = "cGFzc3dvcmQ="
    secret = {
        **item("s", 1, "Secret"),
        "data": {"k": hidden},
        "stringData": {"k": "password"},
        "type": "Opaque",
    }
    secret["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": hidden}
    directory = RunDirectory(tmp_path, {})
    history = History(sink=directory)
    history.append(revision("ADDED", secret))
    directory.close()
    assert hidden not in (tmp_path / "entries.jsonl").read_text()
    assert "password" not in (tmp_path / "entries.jsonl").read_text()
    read = load(tmp_path).current.get("Secret", "s", "ns")
    assert read is not None
    assert read["type"] == "Opaque"
    assert history.current.get("Secret", "s", "ns") == secret

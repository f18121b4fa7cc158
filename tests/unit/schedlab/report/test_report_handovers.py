"""Records of leader election are read as handovers: why, how long, and whether anybody bound out of turn."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from schedlab.history.directory import AUDIT, RunDirectory
from schedlab.history.entries import ProcessEvent, Revision
from schedlab.history.history import History
from schedlab.report.commands import leaders

START = datetime(2026, 1, 1, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


class Record:
    """A record on disk, written line by line; `a` and `b` are processes with an identity `host_` each."""

    def __init__(self, path: Path, election: dict[str, str] | None = None) -> None:
        test = "leaderelection/t"
        about = {"test": test, "scheduler": "mine", "config": {"leaderElection": election or {}}}
        self.directory = RunDirectory(path / test, about)
        self.history = History(sink=self.directory)
        self.audit = (path / test / AUDIT).open("w")
        self._version = 0
        for name in ("a", "b"):
            self.process(0, name, "ready")

    def process(self, seconds: float, name: str, event: Any, detail: str = "") -> None:
        self.history.append(
            ProcessEvent(at=at(seconds), process=name, event=event, detail=detail, credential=f"by-{name}")
        )

    def put(self, seconds: float, kind: str, namespace: str, name: str, spec: dict[str, Any]) -> None:
        self._version += 1
        group = {"Lease": "coordination.k8s.io/v1"}.get(kind, "v1")
        metadata = {"name": name, "namespace": namespace, "uid": name, "resourceVersion": str(self._version)}
        item = {"apiVersion": group, "kind": kind, "metadata": metadata, "spec": spec}
        self.history.append(Revision(at=at(seconds), type="MODIFIED", object=item))

    def write(self, seconds: float, by: str, resource: str, name: str, **body: Any) -> None:
        stamp = at(seconds).isoformat()
        resource, _, subresource = resource.partition("/")
        event = {
            "stage": "ResponseComplete",
            "verb": "create" if subresource else "update",
            "user": {"extra": {"authentication.kubernetes.io/credential-id": [f"by-{by}"]}},
            "requestReceivedTimestamp": stamp,
            "stageTimestamp": stamp,
            "objectRef": {"resource": resource, "subresource": subresource, "name": name, "namespace": "ns"},
            "responseStatus": {"code": 201},
            "requestObject": body,
        }
        self.audit.write(json.dumps(event) + "\n")

    def lease(self, seconds: float, by: str, transitions: int = 0, *, released: bool = False) -> None:
        spec = {"holderIdentity": "" if released else f"host_{by}", "leaseTransitions": transitions}
        self.put(seconds, "Lease", "kube-system", "kube-scheduler", spec)
        self.write(seconds, by, "leases", "kube-scheduler", spec=spec)

    def bind(self, seconds: float, by: str, pod: str) -> None:
        self.put(seconds, "Pod", "ns", pod, {"nodeName": "n-1"})
        self.write(seconds, by, "pods/binding", pod)

    def close(self) -> None:
        self.directory.close()
        self.audit.close()


def shown(path: Path, *options: str) -> tuple[int, Any]:
    result = CliRunner().invoke(leaders, [str(path), "-o", "json", *options])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, json.loads(result.output)


def test_a_killed_leader_is_missed_from_its_death_on(tmp_path: Path) -> None:
    """Not from its last renewal; the next one's first binding counts from its own beginning."""
    record = Record(tmp_path)
    record.lease(1, "a")
    record.lease(2, "a")
    record.process(2.5, "a", "signalled", "SIGKILL")
    record.lease(6, "b", 1)
    record.bind(6.25, "b", "w")
    record.close()
    code, rows = shown(tmp_path)
    assert code == 0
    assert rows == [
        {
            "test": "leaderelection/t",
            "scheduler": "mine",
            "runs": [
                {
                    "bounds": {"after_release": 4.4, "after_loss": 23.8},
                    "story": {
                        "changes": [{"how": "SIGKILL", "without_leader": 3.5, "to_first_binding": 0.25}],
                        "late": 0,
                        "bound_twice": 0,
                    },
                }
            ],
        }
    ]


@pytest.mark.parametrize(
    ("released", "how", "gap"),
    [(True, "released", 1.0), (False, "not renewed", 4.0)],
    ids=["released", "lost"],
)
def test_without_a_signal_the_lease_tells_the_end(
    tmp_path: Path, released: bool, how: str, gap: float
) -> None:
    """By its empty holder, or by the last renewal."""
    record = Record(tmp_path)
    record.lease(1, "a")
    if released:
        record.lease(4, "a", released=True)
    record.lease(5, "b", 1)
    record.close()
    _, rows = shown(tmp_path)
    assert rows[0]["runs"][0]["story"]["changes"] == [
        {"how": how, "without_leader": gap, "to_first_binding": None}
    ]


def test_a_binding_out_of_turn_fails_the_command(tmp_path: Path) -> None:
    """It is what leader election is for."""
    record = Record(tmp_path)
    record.lease(1, "a")
    record.lease(5, "b", 1)
    record.bind(6, "a", "w")
    record.close()
    code, rows = shown(tmp_path)
    assert code == 1
    assert rows[0]["runs"][0]["story"]["late"] == 1


def test_several_runs_are_one_row(tmp_path: Path) -> None:
    """The median, and the longest in brackets."""
    for index, gap in enumerate((3, 5, 4)):
        record = Record(tmp_path / str(index))
        record.lease(0, "a")
        record.process(1, "a", "signalled", "SIGKILL")
        record.lease(1 + gap, "b", 1)
        record.close()
    output = CliRunner().invoke(leaders, [str(tmp_path)]).output
    assert "4.00 (5.00)" in output
    assert output.count("leaderelection/t") == 1


@pytest.mark.parametrize(
    ("signal", "gap", "row"),
    [
        ("SIGKILL", 6.4, "| SIGKILL | mine | 1 | 6.40 (6.40) | 5.2 | 1 | - | 0 | 0 |"),
        ("SIGKILL", 6.1, "| SIGKILL | mine | 1 | 6.10 (6.10) | 5.2 | 0 | - | 0 | 0 |"),
        ("SIGTERM", 2.2, "| SIGTERM | mine | 1 | 2.20 (2.20) | 1.1 | 1 | - | 0 | 0 |"),
    ],
    ids=["killed too long ago", "killed", "ended too long ago"],
)
def test_a_change_is_held_against_the_bound_of_its_settings(
    tmp_path: Path, signal: str, gap: float, row: str
) -> None:
    """Lease and twice the longest look after a loss, one look after a release; a second more is forgiven."""
    record = Record(tmp_path, {"leaseDuration": "3s", "renewDeadline": "2s", "retryPeriod": "500ms"})
    record.lease(0, "a")
    record.process(1, "a", "signalled", signal)
    record.lease(1 + gap, "b", 1)
    record.close()
    output = CliRunner().invoke(leaders, [str(tmp_path), "-o", "markdown"]).output
    assert output.splitlines()[-1].endswith(row)


def test_a_run_without_leaders_is_said(tmp_path: Path) -> None:
    """Rather than an empty table."""
    Record(tmp_path).close()
    result = CliRunner().invoke(leaders, [str(tmp_path)])
    assert "no record shows a change of leader" in str(result.exception)

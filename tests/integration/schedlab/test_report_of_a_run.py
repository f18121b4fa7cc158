"""What a real run leaves behind: evidence that is complete, and nothing that must stay secret."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path
from typing import Any

import pytest
from suite_world import Run, Suites

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(400)]

CANARY = "canary-d41d8cd98f00b204"
NODES = {"nodes": {"profile": "h100x8", "count": 2, "as": "n", "racks": ["rack-a", "rack-b"]}}
SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"password": CANARY}}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "w"},
    "spec": {"containers": [{"name": "c", "image": "x", "resources": {"limits": {"nvidia.com/gpu": "9"}}}]},
}
CREDENTIALS = (
    b"-----BEGIN",
    base64.b64encode(b"-----BEGIN")[:12],
    b"client-key-data",
    b"client-certificate-data",
    b"Bearer ",
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A test that fails on kubesched, twice, with a Secret among its objects."""
    suites = Suites(tmp_path_factory.mktemp("run"))
    operations: list[dict[str, Any]] = [
        NODES,
        {"apply": {"resource": SECRET}},
        {"assert": {"resource": {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}}},
        {"create": {"resource": POD}},
        {"scheduled": {"pod": "w", "within": "1s"}},
    ]
    suites.steps("too-large", *operations)
    return suites.run("--scheduler", "kubesched", "--repeat", "2")


def test_no_artefact_holds_a_secret_or_a_credential(run: Run) -> None:
    """Of the Secret that the test made, of the certificates and tokens that the control plane runs on."""
    encoded = base64.b64encode(CANARY.encode())
    files = [file for file in run.directory.rglob("*") if file.is_file()]
    assert {file.name for file in files} >= {"entries.jsonl", "audit.jsonl", "state.json", "report.html"}
    found = {
        (str(file.relative_to(run.directory)), word)
        for file in files
        for content in [file.read_bytes()]
        for word in (CANARY.encode(), encoded, *CREDENTIALS)
        if word in content
    }
    assert found == set()
    assert CANARY not in json.dumps(details(run.directory))


def details(directory: Path) -> list[dict[str, Any]]:
    """What the page unpacks for each of its tests."""
    blocks = (directory / "report.html").read_text().split('<script type="application/octet-stream"')[1:]
    packed = [block.split(">", 1)[1].split("<", 1)[0] for block in blocks]
    return [json.loads(zlib.decompress(base64.b64decode(one))) for one in packed]


def test_a_failure_comes_with_all_its_evidence(run: Run) -> None:
    """In the terminal and in the page: what was expected and seen, the nodes, the explanation, the rerun."""
    assert run.code == 1
    for text in (
        "expected:  pod w bound",
        "Insufficient nvidia.com/gpu",
        "since:     ",
        "event:     Warning FailedScheduling",
        "nvidia.com/gpu 0 of 8",
        "NodeResourcesFit",
        "rerun:     schedlab test ",
        "tests: 1, schedulers: 1, runs of each: 2: no flake",
    ):
        assert text in run.output, run.output
    (detail,) = details(run.directory)
    story = detail["story"]
    (verdict,) = story["verdicts"]
    assert verdict["source"] == "kubesched, its explain at the failure"
    assert {row["plugin"] for row in verdict["rows"]} == {"NodeResourcesFit"}
    assert {machine["rack"]: machine["slots"] for machine in story["machines"]} == {
        "rack-a": {"nvidia.com/gpu": 8},
        "rack-b": {"nvidia.com/gpu": 8},
    }
    assert [(guest["name"], guest["takes"], guest["bound"]) for guest in story["guests"]] == [
        ("w", {"nvidia.com/gpu": 9}, None)
    ]
    assert 0 < story["end"] < story["length"]

"""Writes small suites and runs `schedlab test` on them, as a user would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: w, labels: {app: w}}
spec:
  containers:
  - {name: c, image: x, resources: {requests: {cpu: "1"}}}
"""


@dataclass(frozen=True)
class Run:
    """What `schedlab test` left behind."""

    code: int
    output: str
    directory: Path

    @property
    def report(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.directory / "report.json").read_text())
        return found

    def result(self, test: str) -> dict[str, Any]:
        return next(result for result in self.report["results"] if result["test"] == test)

    def verdicts(self) -> dict[str, str]:
        return {result["test"].split("/")[1]: result["verdict"] for result in self.report["results"]}


class Suites:
    """A folder of suites."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def add(self, name: str, spec: dict[str, Any], labels: dict[str, str] | None = None) -> None:
        """A test `demo/NAME` with a pod manifest beside it."""
        folder = self.root / "suites" / "demo" / name
        folder.mkdir(parents=True)
        (folder / "pod.yaml").write_text(POD)
        metadata = {"name": name, "labels": labels or {}}
        test = {"apiVersion": "schedlab/v1alpha1", "kind": "Test", "metadata": metadata, "spec": spec}
        (folder / "test.yaml").write_text(yaml.safe_dump(test))

    def steps(self, name: str, *operations: dict[str, Any], plugin: str = "") -> None:
        """A test of one step."""
        self.add(name, {"steps": [{"try": list(operations)}]}, {"plugin": plugin} if plugin else {})

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "schedlab", "test", "suites", "--artifacts", "artifacts", *arguments]

    def run(self, *arguments: str, env: dict[str, str] | None = None) -> Run:
        done = subprocess.run(
            self.command(*arguments),
            cwd=self.root,
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        return Run(done.returncode, done.stdout + done.stderr, self.root / "artifacts" / "latest")

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """A run that goes on."""
        return subprocess.Popen(
            self.command(*arguments),
            cwd=self.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

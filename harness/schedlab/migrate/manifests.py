"""The manifests beside a test: copied as they are, or written anew where expressions had to be translated."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import yaml

from schedlab.api.objects import Json
from schedlab.migrate import trees
from schedlab.migrate.findings import Findings, Untranslatable
from schedlab.suite import document
from schedlab.suite.positions import LoadError


class Manifests:
    """The files of one test, carried from its folder to the new one."""

    def __init__(self, source: Path, target: Path, findings: Findings) -> None:
        self._source = source
        self._target = target
        self._findings = findings
        self._carried: dict[tuple[Path, bool], str] = {}

    def carried(self, file: Path, *, tree: bool) -> str:
        """The name of a file in the new folder; empty if it could not be carried over, which is told."""
        key = (file, tree)
        if key not in self._carried:
            self._carried[key] = self._carry(file, tree)
        return self._carried[key]

    def written(self, file: Path, objects: Sequence[Json]) -> str:
        """The name of a file with only some of its objects."""
        name = self._name(file)
        self._carried[file, False] = name
        self._findings.comments(file)
        path = self._target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump_all(objects, sort_keys=False))
        self._findings.written.append(path)
        return name

    def _carry(self, file: Path, tree: bool) -> str:
        try:
            documents = document.read(file)
        except LoadError as error:
            self._findings.left += error.problems
            return ""
        converted: list[Json] = []
        for entry in documents:
            try:
                converted.append(trees.assertions(entry.data) if tree else trees.values(entry.data))
            except Untranslatable as error:
                self._findings.leave(entry, (), f"the file is left out: {error.message}")
                return ""
        name = self._name(file)
        path = self._target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if converted == [entry.data for entry in documents]:
            shutil.copyfile(file, path)
        else:
            self._findings.comments(file)
            path.write_text(yaml.safe_dump_all(converted, sort_keys=False))
        self._findings.written.append(path)
        return name

    def _name(self, file: Path) -> str:
        """Beside the test, also for a file that was elsewhere; no two files under one name."""
        relative = os.path.relpath(file, self._source)
        base = relative.replace("../", "").replace("/", "-")
        taken = set(self._carried.values())
        name, number = base, 2
        while name in taken:
            name, number = f"{number}-{base}", number + 1
        return name

"""kuttl's tests: a folder each, whose numbered files are the steps.

`NN-name.yaml` is applied, `NN-assert.yaml` must come to exist, `NN-errors.yaml` must not. TestStep and
TestAssert documents in them say more.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from schedlab.migrate.findings import Findings
from schedlab.migrate.manifests import Manifests
from schedlab.migrate.written import folder_name, write
from schedlab.suite import document
from schedlab.suite.document import Document, Path_
from schedlab.suite.positions import LoadError

GROUP = "kuttl.dev"
_FILE = re.compile(r"^(\d+)-(?P<name>[^/]+)\.ya?ml$")
_STEP = ("apply", "assert", "error", "delete", "commands")
_REF = ("apiVersion", "kind", "name", "namespace", "labels")
_ASSERT = ("timeout", "collectors", "commands")


def migrate(source: Path, target: Path) -> Findings:
    """Every test folder below `source`, under its name below `target`."""
    findings = Findings()
    folders = sorted({path.parent for path in source.rglob("*.y*ml") if _FILE.match(path.name)})
    for folder in folders:
        _Case(folder, target / folder_name(folder.name), findings).convert()
    for file in sorted(source.rglob("*.y*ml")):
        if file.parent not in folders:
            findings.leave_file(file, "the file belongs to no test and is not carried over")
    return findings


class _Case:
    """The conversion of one folder."""

    def __init__(self, source: Path, target: Path, findings: Findings) -> None:
        self._source = source
        self._target = target
        self._findings = findings
        self._manifests = Manifests(source, target, findings)

    def convert(self) -> None:
        """Write the test."""
        steps: dict[int, list[Path]] = {}
        for file in sorted(self._source.iterdir()):
            match = _FILE.match(file.name)
            if match and file.is_file():
                steps.setdefault(int(match[1]), []).append(file)
            elif file.suffix in (".yaml", ".yml"):
                self._findings.leave_file(file, "the file is no step of the test and is not carried over")
            elif file.is_dir() and _FILE.match(f"{file.name}.yaml"):
                self._findings.leave_file(file, "a folder as a step is not carried over")
        converted = [self._step(number, files) for number, files in sorted(steps.items())]
        if folder_name(self._source.name) != self._source.name:
            self._findings.leave_file(self._source, f"the test is called {self._target.name!r} now")
        write(self._target, {"name": self._target.name}, {"steps": converted}, self._findings)

    def _step(self, number: int, files: Sequence[Path]) -> dict[str, Any]:
        """Deletions, commands, objects, then what must and must not be: kuttl's order in a step."""
        step: dict[str, Any] = {"name": f"step {number}", "try": []}
        parts: dict[str, list[dict[str, Any]]] = {"delete": [], "commands": [], "apply": [], "judge": []}
        for file in files:
            try:
                documents = document.read(file)
            except LoadError as error:
                self._findings.left += error.problems
                continue
            kind = {"assert": "assert", "errors": "error"}.get(_name(file), "apply")
            within: dict[str, str] = {}
            for doc in documents:
                if _ours(doc):
                    within |= self._instructions(doc, step, parts)
            self._objects(file, kind, documents, parts, within)
        step["try"] = [op for name in ("delete", "apply", "commands", "judge") for op in parts[name]]
        return step

    def _objects(
        self,
        file: Path,
        kind: str,
        documents: Sequence[Document],
        parts: dict[str, list[dict[str, Any]]],
        within: dict[str, str],
    ) -> None:
        """What is left of a file without kuttl's own documents."""
        objects = [doc for doc in documents if not _ours(doc)]
        if not objects:
            return
        if len(objects) == len(documents):
            name = self._manifests.carried(file, tree=False)
        else:
            name = self._manifests.written(file, [doc.data for doc in objects])
        if not name:
            return
        more: dict[str, Any] = {} if kind == "apply" else {"exact": True, **within}
        parts["apply" if kind == "apply" else "judge"].append({kind: {"file": name, **more}})

    def _instructions(
        self, doc: Document, step: dict[str, Any], parts: dict[str, list[dict[str, Any]]]
    ) -> dict[str, str]:
        """A TestStep or a TestAssert; returns the time that assertions have."""
        data = doc.data
        kind = data.get("kind")
        known = {"TestStep": _STEP, "TestAssert": _ASSERT}.get(str(kind))
        if known is None:
            self._findings.leave(doc, ("kind",), f"the {kind} is not carried over")
            return {}
        for field in data:
            if field not in (*known, "apiVersion", "kind", "metadata"):
                self._findings.leave(doc, (field,), f"`{field}` of {kind} is not carried over")
        if title := (data.get("metadata") or {}).get("name"):
            step["name"] = str(title)
        for name, op in (("apply", "apply"), ("assert", "assert"), ("error", "error")):
            for index, file in enumerate(data.get(name) or []):
                self._listed(doc, (name, index), str(file), op, parts)
        for index, target in enumerate(data.get("delete") or []):
            self._delete(doc, ("delete", index), target, parts)
        place = "judge" if kind == "TestAssert" else "commands"
        for index, command in enumerate(data.get("commands") or []):
            self._command(doc, ("commands", index), command, parts[place])
        for index, collector in enumerate(data.get("collectors") or []):
            self._collector(doc, ("collectors", index), collector, step)
        return {"within": f"{data['timeout']}s"} if data.get("timeout") else {}

    def _listed(
        self, doc: Document, path: Path_, name: str, kind: str, parts: dict[str, list[dict[str, Any]]]
    ) -> None:
        file = self._source / name
        if "://" in name or not file.is_file():
            self._findings.leave(doc, path, f"{name} is no file beside the test; left out")
            return
        if carried := self._manifests.carried(file, tree=False):
            more = {} if kind == "apply" else {"exact": True}
            parts["apply" if kind == "apply" else "judge"].append({kind: {"file": carried, **more}})

    def _delete(
        self, doc: Document, path: Path_, target: Mapping[str, Any], parts: dict[str, list[dict[str, Any]]]
    ) -> None:
        ref = {key: target[key] for key in _REF if key in target}
        if "name" not in ref and "labels" not in ref:
            self._findings.leave(doc, path, "the deletion of all objects of a kind is left out", "name them")
            return
        parts["delete"].append({"delete": {"ref": ref}})

    def _command(
        self, doc: Document, path: Path_, command: Mapping[str, Any], into: list[dict[str, Any]]
    ) -> None:
        for field in command:
            if field not in ("command", "script", "timeout", "ignoreFailure", "namespaced"):
                self._findings.leave(doc, (*path, field), f"`{field}` of a command is not carried over")
        if command.get("background"):
            self._findings.leave(doc, path, "a command in the background is left out")
            return
        more: dict[str, Any] = {"timeout": f"{command['timeout']}s"} if command.get("timeout") else {}
        if command.get("ignoreFailure"):
            more["check"] = {}
        text = str(command.get("script") or command.get("command") or "")
        if command.get("namespaced"):
            text += ' --namespace "$NAMESPACE"'
        if command.get("script") or "$" in text:
            into.append({"script": {"content": text, **more}})
        else:
            program, *args = shlex.split(text)
            into.append({"command": {"entrypoint": program, "args": args, **more}})

    def _collector(
        self, doc: Document, path: Path_, collector: Mapping[str, Any], step: dict[str, Any]
    ) -> None:
        """What to show after a failure."""
        kind = collector.get("type") or ("command" if "command" in collector else "pod")
        if kind == "events":
            step.setdefault("catch", []).append({"events": {}})
        elif kind == "command":
            program, *args = shlex.split(str(collector.get("command", "")))
            step.setdefault("catch", []).append({"command": {"entrypoint": program, "args": args}})
        else:
            hint = "the pods run on fake machines and print nothing"
            self._findings.leave(doc, path, f"the collector of type {kind} is left out", hint)


def _name(file: Path) -> str:
    match = _FILE.match(file.name)
    return match["name"] if match else ""


def _ours(doc: Document) -> bool:
    return isinstance(doc.data, dict) and str(doc.data.get("apiVersion", "")).startswith(f"{GROUP}/")

"""Chainsaw's tests: the words are mostly the same, expressions and lists are not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from schedlab.api.objects import Json
from schedlab.migrate import trees
from schedlab.migrate.findings import Findings, Untranslatable
from schedlab.migrate.manifests import Manifests
from schedlab.migrate.operations import Operations
from schedlab.migrate.written import folder_name, write
from schedlab.suite import document
from schedlab.suite.document import Document, Path_
from schedlab.suite.positions import LoadError

GROUP = "chainsaw.kyverno.io"
_BLOCKS = ("try", "catch", "finally", "cleanup")
_PLAIN = ("description", "skip", "concurrent", "timeouts")
_TIMEOUTS = ("apply", "assert", "error", "delete", "cleanup", "exec")
_HANDLED = (*_PLAIN, "bindings", "scenarios", "catch", "steps", "namespaceTemplate")


def migrate(source: Path, target: Path) -> Findings:
    """Every test below `source`, in the same folders below `target`."""
    findings = Findings()
    for file in sorted(source.rglob("*.y*ml")):
        try:
            documents = [doc for doc in document.read(file) if _ours(doc)]
        except LoadError as error:
            findings.left += error.problems
            continue
        tests = [doc for doc in documents if doc.data.get("kind") == "Test"]
        for doc in documents:
            if doc not in tests and doc.data.get("kind") != "StepTemplate":
                findings.leave(doc, ("kind",), f"the {doc.data.get('kind')} is not carried over")
        for doc in tests:
            folder = target / file.parent.relative_to(source)
            if len(tests) > 1:
                folder = folder / folder_name(str((doc.data.get("metadata") or {}).get("name", "test")))
            manifests = Manifests(doc.file.parent, folder, findings)
            _Conversion(doc, folder, findings, manifests).convert()
    return findings


def _ours(doc: Document) -> bool:
    return isinstance(doc.data, dict) and str(doc.data.get("apiVersion", "")).startswith(f"{GROUP}/")


class _Conversion:
    """The conversion of one document, a test or a template that it uses."""

    def __init__(self, doc: Document, folder: Path, findings: Findings, manifests: Manifests) -> None:
        self._doc = doc
        self._folder = folder
        self._findings = findings
        self._operations = Operations(doc, manifests, findings)

    def convert(self) -> None:
        """Write the test."""
        data = self._doc.data
        spec = data.get("spec") or {}
        self._findings.comments(self._doc.file)
        self._leave_others(spec, _HANDLED, ("spec",))
        converted: dict[str, Any] = {key: spec[key] for key in _PLAIN if key in spec and key != "timeouts"}
        if "timeouts" in spec:
            converted["timeouts"] = self._timeouts(spec["timeouts"], ("spec", "timeouts"))
        if "bindings" in spec:
            converted["bindings"] = self._bindings(spec["bindings"], ("spec", "bindings"))
        if "scenarios" in spec:
            converted["scenarios"] = [
                {"bindings": self._bindings(row.get("bindings") or [], ("spec", "scenarios", at, "bindings"))}
                for at, row in enumerate(spec["scenarios"])
            ]
        if "namespaceTemplate" in spec:
            converted["namespaceTemplate"] = self._namespace(spec["namespaceTemplate"])
        if "catch" in spec:
            converted["catch"] = self._operations.convert(spec["catch"], ("spec", "catch"))
        steps = spec.get("steps") or []
        converted["steps"] = [self.step(step, ("spec", "steps", at)) for at, step in enumerate(steps)]
        metadata = {"name": self._folder.name, **(data.get("metadata") or {})}
        self._leave_others(metadata, ("name", "labels", "annotations"), ("metadata",))
        if folder_name(metadata["name"]) != metadata["name"]:
            message = f"the test is called {folder_name(metadata['name'])!r} now"
            self._findings.leave(self._doc, ("metadata", "name"), message)
        if not steps:
            self._findings.leave(self._doc, (), "the test has no steps; left out")
            return
        write(self._folder, metadata, converted, self._findings)

    def step(self, step: Mapping[str, Any], path: Path_) -> dict[str, Any]:
        """One step, or the contents of a template."""
        self._leave_others(step, (*_BLOCKS, "name", "description", "timeouts", "bindings", "use"), path)
        converted: dict[str, Any] = {key: step[key] for key in ("name", "description") if key in step}
        if "timeouts" in step:
            converted["timeouts"] = self._timeouts(step["timeouts"], (*path, "timeouts"))
        if "bindings" in step:
            converted["bindings"] = self._bindings(step["bindings"], (*path, "bindings"))
        if "use" in step:
            self._used(step["use"], converted, path)
        for block in _BLOCKS:
            if block in step:
                converted[block] = self._operations.convert(step[block], (*path, block))
        return converted

    def _used(self, use: Mapping[str, Any], converted: dict[str, Any], path: Path_) -> None:
        """A step template becomes operations of the step itself, with its bindings."""
        file = self._doc.file.parent / str(use.get("template", ""))
        try:
            template = next((doc for doc in document.read(file) if _ours(doc)), None)
        except LoadError as error:
            self._findings.left += error.problems
            return
        if template is None or template.data.get("kind") != "StepTemplate":
            self._findings.leave(self._doc, (*path, "use"), f"{file.name} is no StepTemplate; left out")
            return
        inner = _Conversion(template, self._folder, self._findings, self._operations.manifests)
        spec = {key: value for key, value in (template.data.get("spec") or {}).items() if key != "bindings"}
        converted.update(inner.step(spec, ("spec",)))
        values = {one["name"]: one for one in (template.data.get("spec") or {}).get("bindings") or []}
        given = (use.get("with") or {}).get("bindings") or []
        values.update({one["name"]: one for one in given})
        if values:
            more = self._bindings(list(values.values()), (*path, "use"))
            converted["bindings"] = [*converted.get("bindings", []), *more]

    def _bindings(self, bindings: Sequence[Mapping[str, Any]], path: Path_) -> list[dict[str, Any]]:
        found = []
        for index, binding in enumerate(bindings):
            self._leave_others(binding, ("name", "value"), (*path, index))
            try:
                found.append({"name": binding["name"], "value": trees.values(binding.get("value"))})
            except Untranslatable as error:
                message = f"the binding {binding['name']!r} is left out: {error.message}"
                self._findings.leave(self._doc, (*path, index), message)
        return found

    def _timeouts(self, timeouts: Mapping[str, Any], path: Path_) -> dict[str, Any]:
        self._leave_others(timeouts, _TIMEOUTS, path)
        return {key: value for key, value in timeouts.items() if key in _TIMEOUTS}

    def _namespace(self, template: Mapping[str, Any]) -> dict[str, Json]:
        path: Path_ = ("spec", "namespaceTemplate")
        self._leave_others(template, ("metadata",), path)
        metadata = template.get("metadata") or {}
        self._leave_others(metadata, ("labels", "annotations"), (*path, "metadata"))
        return {key: metadata[key] for key in ("labels", "annotations") if key in metadata}

    def _leave_others(self, fields: Mapping[str, Any], known: Sequence[str], path: Path_) -> None:
        for field in fields:
            if field not in known:
                self._findings.leave(self._doc, (*path, field), f"`{field}` is not carried over")

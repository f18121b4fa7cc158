"""Chainsaw's operations, one by one: each becomes one or several of ours, or is told as left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schedlab.api.objects import Json
from schedlab.migrate import trees
from schedlab.migrate.findings import Findings, Untranslatable
from schedlab.migrate.manifests import Manifests
from schedlab.suite.document import Document, Path_
from schedlab.suite.expressions import is_expression

Fields = Mapping[str, Any]
Converted = list[dict[str, Any]]

_WRITES = ("apply", "create", "patch", "update")
_KEPT = {
    **dict.fromkeys(_WRITES, ("file", "resource", "timeout", "expect", "outputs")),
    "delete": ("file", "ref", "timeout", "deletionPropagationPolicy"),
    "assert": ("file", "resource", "timeout"),
    "error": ("file", "resource", "timeout"),
    "wait": ("apiVersion", "kind", "name", "namespace", "selector", "timeout", "for"),
    "get": ("apiVersion", "kind", "name", "namespace", "selector"),
    "describe": ("apiVersion", "kind", "name", "namespace", "selector"),
    "events": ("name",),
    "command": ("entrypoint", "args", "env", "check", "timeout"),
    "script": ("content", "env", "check", "timeout"),
}
_REFUSED = {
    "sleep": "tests wait for something that they name: say what this waits for, or `holds`",
    "podLogs": "the pods run on fake machines and print nothing",
    "proxy": "the pods run on fake machines and answer nothing",
}
_META = ("description", "clusters", "cluster")


@dataclass(frozen=True, slots=True)
class Operations:
    """Converts the operations of one document."""

    doc: Document
    manifests: Manifests
    findings: Findings

    def convert(self, items: list[Json], path: Path_) -> Converted:
        """A list of operations; the place of each is `path` and its index."""
        return [op for index, item in enumerate(items or []) for op in self._item(item, (*path, index))]

    def _item(self, item: Json, path: Path_) -> Converted:
        names = [name for name in item if name not in _META] if isinstance(item, dict) else []
        if len(names) != 1:
            self.findings.leave(self.doc, path, "this is no operation; left out")
            return []
        for extra in (name for name in item if name in _META):
            self.findings.leave(self.doc, (*path, extra), f"`{extra}` of an operation has no counterpart")
        name = names[0]
        place = (*path, name)
        if name not in _KEPT:
            why = _REFUSED.get(name, "there is no such operation")
            self.findings.leave(self.doc, place, f"the operation {name!r} is left out", why)
            return []
        fields: Fields = item[name] or {}
        for field in fields:
            if field not in _KEPT[name]:
                self.findings.leave(self.doc, (*place, field), f"`{field}` of {name} is not carried over")
        try:
            return self._converted(name, fields, place)
        except Untranslatable as error:
            self.findings.leave(self.doc, place, f"the operation {name!r} is left out: {error.message}")
            return []

    def _converted(self, name: str, fields: Fields, place: Path_) -> Converted:
        if name in _WRITES:
            return self._write(name, fields, place)
        handlers: dict[str, Callable[[str, Fields, Path_], Converted]] = {
            "assert": self._assertion,
            "error": self._assertion,
            "delete": self._delete,
            "wait": self._wait,
            "command": self._program,
            "script": self._program,
        }
        return handlers.get(name, self._shown)(name, fields, place)

    def _write(self, name: str, fields: Fields, place: Path_) -> Converted:
        if name == "update":
            self.findings.leave(self.doc, place, "`update` became `apply`, which keeps fields not given")
            name = "apply"
        more: dict[str, Any] = {}
        if "expect" in fields:
            more["expect"] = [
                {key: trees.assertions(tree) for key, tree in entry.items()} for entry in fields["expect"]
            ]
        if "timeout" in fields:
            more["timeout"] = fields["timeout"]
        if alias := self._output(fields.get("outputs") or [], place):
            more["as"] = alias
        return [{name: {**source, **more}} for source in self._sources(fields, tree=False)]

    def _output(self, outputs: list[Fields], place: Path_) -> str:
        """The name under which the answer is bound, if that is what an output says."""
        found = ""
        for index, output in enumerate(outputs):
            whole = output.get("value") == "(@)" and "match" not in output and not found
            if whole:
                found = str(output["name"])
            else:
                where = (*place, "outputs", index)
                hint = "bind the whole object with `as` and read it with an expression"
                self.findings.leave(self.doc, where, f"the output {output.get('name')!r} is left out", hint)
        return found

    def _assertion(self, name: str, fields: Fields, place: Path_) -> Converted:  # noqa: ARG002 - as the others
        more: dict[str, Any] = {"exact": True}  # Chainsaw compares lists element by element
        if "timeout" in fields:
            more["within"] = fields["timeout"]
        return [{name: {**source, **more}} for source in self._sources(fields, tree=True)]

    def _delete(self, name: str, fields: Fields, place: Path_) -> Converted:  # noqa: ARG002 - as the others
        more = {key: fields[key] for key in ("timeout", "deletionPropagationPolicy") if key in fields}
        if "file" in fields:
            return [{name: {**source, **more}} for source in self._sources(fields, tree=False)]
        ref = trees.values(dict(fields.get("ref") or {}))
        if "name" not in ref and "labels" not in ref:
            raise Untranslatable("all objects of a kind cannot be deleted at once; give a name or labels")
        return [{name: {"ref": ref, **more}}]

    def _wait(self, name: str, fields: Fields, place: Path_) -> Converted:  # noqa: ARG002 - as the others
        wanted = fields.get("for") or {}
        unknown = [key for key in wanted if key not in ("deletion", "condition")]
        if unknown or not wanted:
            raise Untranslatable(f"a wait for {', '.join(unknown) or 'nothing'}; say it with `assert`")
        more = {"within": fields["timeout"]} if "timeout" in fields else {}
        return [{name: {**self._about(fields), "for": wanted, **more}}]

    def _shown(self, name: str, fields: Fields, place: Path_) -> Converted:  # noqa: ARG002 - as the others
        return [{name: self._about(fields)}]

    def _about(self, fields: Fields) -> dict[str, Any]:
        """Which objects are meant."""
        kept = {key: fields[key] for key in ("apiVersion", "kind", "name", "namespace") if key in fields}
        if selector := fields.get("selector"):
            pairs = [part.partition("=") for part in str(selector).split(",")]
            if any(not mark or key.endswith("!") for key, mark, _ in pairs):
                raise Untranslatable(f"the selector {selector!r} is more than equal labels")
            kept["labels"] = {key.strip(): value.removeprefix("=").strip() for key, _, value in pairs}
        converted: dict[str, Any] = trees.values(kept)
        return converted

    def _program(self, name: str, fields: Fields, place: Path_) -> Converted:  # noqa: ARG002 - as the others
        kept = trees.values({k: v for k, v in fields.items() if k in _KEPT[name] and k != "check"})
        if "check" in fields:
            kept["check"] = trees.assertions(fields["check"])
        return [{name: kept}]

    def _sources(self, fields: Fields, *, tree: bool) -> list[dict[str, Any]]:
        """`file` or `resource`; a pattern of files becomes one operation for each."""
        if "resource" in fields:
            body = fields["resource"]
            return [{"resource": trees.assertions(body) if tree else trees.values(body)}]
        name = str(fields.get("file") or "")
        if is_expression(name) or "://" in name or not name:
            raise Untranslatable(f"the file {name!r} is not one beside the test")
        found = sorted(self.doc.file.parent.glob(name)) if not Path(name).is_absolute() else []
        if not found:
            raise Untranslatable(f"there is no file {name}")
        converted = [self.manifests.carried(file, tree=tree) for file in found]
        return [{"file": file} for file in converted if file]

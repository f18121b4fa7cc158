"""Writes a test that was converted, and tells what the loader has to say about it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from schedlab.migrate.findings import Findings
from schedlab.suite.loader import FILE_NAME, load
from schedlab.suite.positions import LoadError
from schedlab.suite.types import GROUP

_MODELINE = "# yaml-language-server: $schema={}\n"
_SCHEMA = Path("docs", "schemas", "test-v1alpha1.json")


def write(folder: Path, metadata: Mapping[str, Any], spec: dict[str, Any], findings: Findings) -> None:
    """Write `test.yaml`."""
    kept = {key: metadata[key] for key in ("labels", "annotations") if key in metadata}
    test = {
        "apiVersion": GROUP,
        "kind": "Test",
        "metadata": {"name": folder_name(str(metadata["name"])), **kept},
        "spec": spec,
    }
    path = folder / FILE_NAME
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(_modeline(folder) + yaml.safe_dump(test, sort_keys=False, width=110))
    findings.written.append(path)
    try:
        load(path)
    except LoadError as error:
        findings.left += error.problems


def folder_name(text: str) -> str:
    """A text as the name of a test: lower case letters, digits and hyphens, at most 63."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:63].rstrip("-") or "test"


def _modeline(folder: Path) -> str:
    """Where editors find the schema, if it is here."""
    schema = Path.cwd() / _SCHEMA
    return _MODELINE.format(os.path.relpath(schema, folder)) if schema.is_file() else ""

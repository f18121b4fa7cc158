"""What is generated from the types is committed, fresh and right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from schedlab import data
from schedlab.operations.registry import OPERATIONS
from schedlab.suite import reference
from schedlab.suite import schema as schemas
from schedlab.suite.commands import SCHEMAS as SCHEMAS_OF
from schedlab.suite.schema import encoded

ROOT = Path(__file__).parents[4]
SCHEMAS = ROOT / "docs" / "schemas"
TEMPLATES = sorted((ROOT / "suites" / "templates").glob("*.yaml"))
TESTS = sorted((ROOT / "suites").rglob("test.yaml"))

SCHEMA: dict[str, Any] = schemas.test_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
REFERENCE = reference.markdown()
GOOD = {
    "apiVersion": "schedlab/v1alpha1",
    "kind": "Test",
    "metadata": {"name": "a"},
    "spec": {"steps": [{"try": [{"nodes": {"profile": "cpu-32", "count": 2}}]}]},
}


def with_operation(**operation: object) -> dict[str, Any]:
    return {**GOOD, "spec": {"steps": [{"try": [operation]}]}}


@pytest.mark.parametrize("kind", SCHEMAS_OF)
def test_the_schemas_are_fresh(kind: str) -> None:
    """Else run `schedlab schema KIND > docs/schemas/KIND-v1alpha1.json`."""
    assert (SCHEMAS / f"{kind}-v1alpha1.json").read_text() == encoded(schemas.schema_of(kind))


def test_the_reference_of_operations_is_fresh() -> None:
    """Else run `python -m schedlab.suite.reference > docs/operations.md`."""
    assert (ROOT / "docs" / "operations.md").read_text() == REFERENCE


@pytest.mark.parametrize("tag", OPERATIONS)
def test_every_operation_has_a_page_with_an_example(tag: str) -> None:
    """And every field of it says what it is for."""
    page = REFERENCE.split(f"### {tag}\n")[1].split("\n### ")[0]
    assert f"- {tag}:" in page
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert rows
    assert all(row.rstrip("| ").count("|") >= 4 for row in rows), rows


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.parent.name)
def test_shipped_tests_fit_the_schema_and_name_it(path: Path) -> None:
    """So that an editor checks them as they are written."""
    first, _, _ = path.read_text().partition("\n")
    named = first.removeprefix("# yaml-language-server: $schema=")
    assert (path.parent / named).resolve() == SCHEMAS / "test-v1alpha1.json"
    VALIDATOR.validate(yaml.safe_load(path.read_text()))


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_shipped_step_templates_fit_the_schema_and_name_it(path: Path) -> None:
    """As tests do; templates stand beside the areas."""
    first, _, _ = path.read_text().partition("\n")
    named = first.removeprefix("# yaml-language-server: $schema=")
    assert (path.parent / named).resolve() == SCHEMAS / "steptemplate-v1alpha1.json"
    jsonschema.validate(yaml.safe_load(path.read_text()), schemas.template_schema())


@pytest.mark.parametrize(
    "path", sorted((data.path("manifests") / "schedulers").glob("*.yaml")), ids=lambda p: p.stem
)
def test_shipped_schedulers_fit_the_schema(path: Path) -> None:
    """The declarations, too."""
    schema = json.loads((SCHEMAS / "scheduler-v1alpha1.json").read_text())
    jsonschema.validate(yaml.safe_load(path.read_text()), schema)


@pytest.mark.parametrize(
    "operation",
    [
        {"nodes": {"profile": "cpu-32", "count": "($n)"}},
        {"scheduled": {"pod": "a", "nodeIn": "($cpu)", "within": "($t)"}},
        {"unschedulable": {"pod": "a", "because": {"Insufficient cpu": "(size($cpu))"}}},
        {"wait": {"apiVersion": "v1", "kind": "Pod", "for": {"deletion": {}}}},
    ],
    ids=["in a number", "in a list and a duration", "in a mapping", "none at all"],
)
def test_the_schema_allows_expressions(operation: dict[str, Any]) -> None:
    """Wherever the loader does."""
    VALIDATOR.validate(with_operation(**operation))


@pytest.mark.parametrize(
    "document",
    [
        with_operation(nodez={}),
        with_operation(nodes={}, pods={}),
        with_operation(nodes={"profil": "x"}),
        with_operation(nodes={"count": "two"}),
        with_operation(scheduled={"within": "5"}),
        {**GOOD, "specs": {}},
        {**GOOD, "kind": "test"},
    ],
    ids=["an operation", "two operations", "a field", "a number", "a duration", "a part", "a kind"],
)
def test_the_schema_refuses_what_the_loader_refuses(document: dict[str, Any]) -> None:
    """The common mistakes show up in the editor."""
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(document)

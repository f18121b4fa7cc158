"""Whole examples of Chainsaw and kuttl: what is written is loadable, what is not carried over is told."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from schedlab.migrate import chainsaw, kuttl
from schedlab.migrate.commands import migrate
from schedlab.migrate.findings import Findings
from schedlab.suite.loader import load

EXAMPLES = Path(__file__).parent / "examples"


def told(findings: Findings) -> list[str]:
    return [f"{p.position.file.name}:{p.position.line}: {p.message}" for p in findings.left]


def operations(path: Path, step: int, block: str = "try") -> list[str]:
    spec = yaml.safe_load(path.read_text())["spec"]
    return [name for item in spec["steps"][step][block] for name in item]


def test_chainsaws_example_is_converted_but_for_what_is_told(tmp_path: Path) -> None:
    """Each omission once, at its line."""
    findings = chainsaw.migrate(EXAMPLES / "chainsaw", tmp_path)
    assert told(findings) == [
        ".chainsaw.yaml:2: the Configuration is not carried over",
        "chainsaw-test.yaml:1: 1 comments are not carried over",
        "chainsaw-test.yaml:31: the output 'uid' is left out",
        "chainsaw-test.yaml:45: the operation 'sleep' is left out",
        "chainsaw-test.yaml:61: the operation 'podLogs' is left out",
        "chainsaw-test.yaml:5: `skipDelete` is not carried over",
        "chainsaw-test.yaml:6: `namespace` is not carried over",
        "chainsaw-test.yaml:24: the operation 'assert' is left out: reverse(object.spec) has no counterpart",
        "chainsaw-test.yaml:29: the operation 'proxy' is left out",
        "chainsaw-test.yaml:30: the operation 'wait' is left out: a wait for jsonPath; say it with `assert`",
    ]
    test = load(tmp_path / "gpu-pods" / "test.yaml")
    assert [step.name for step in test.steps] == ["machines", "another machine", "place"]
    assert [len(step.try_) for step in test.steps] == [2, 2, 5]
    assert operations(test.path, 2, "catch") == ["describe", "events"]
    assert [scenario.bindings[0].value for scenario in load(tmp_path / "quota" / "test.yaml").spec.scenarios]


def test_expressions_of_chainsaw_become_cel(tmp_path: Path) -> None:
    """In keys, in values, and in the files that are named; a plain file is copied with its comments."""
    chainsaw.migrate(EXAMPLES / "chainsaw", tmp_path)
    steps = yaml.safe_load((tmp_path / "gpu-pods" / "test.yaml").read_text())["spec"]["steps"]
    wanted = steps[2]["try"][1]["assert"]["resource"]
    assert wanted["spec"] == {"nodeName": "gpu-1", "(size(object.containers))": 1}
    ready = '(object.conditions.filter(i1, i1.type == "PodScheduled"))'
    assert wanted["status"] == {ready: [{"status": "True"}]}
    expected = yaml.safe_load((tmp_path / "gpu-pods" / "expect-trainer.yaml").read_text())
    assert expected["spec"] == {"~.containers": {'(object.resources.limits["nvidia.com/gpu"])': "1"}}
    assert (tmp_path / "gpu-pods" / "pod.yaml").read_text().startswith("# The pod")


def test_kuttls_example_is_converted_but_for_what_is_told(tmp_path: Path) -> None:
    """Each omission once, at its line."""
    findings = kuttl.migrate(EXAMPLES / "kuttl", tmp_path)
    assert told(findings) == [
        "01-assert.yaml:7: the collector of type pod is left out",
        "01-assert.yaml:1: 1 comments are not carried over",
        "00-step.yaml:4: `unitTest` of TestStep is not carried over",
        "00-step.yaml:8: `background` of a command is not carried over",
        "00-step.yaml:8: a command in the background is left out",
        "01-step.yaml:5: the deletion of all objects of a kind is left out",
        "kuttl-test.yaml:1: the file belongs to no test and is not carried over",
    ]
    placement = tmp_path / "placement" / "test.yaml"
    assert operations(placement, 0) == ["apply", "assert"]
    assert operations(placement, 1) == ["apply", "assert", "error"]
    assert yaml.safe_load(placement.read_text())["spec"]["steps"][1]["try"][1]["assert"]["within"] == "20s"
    assert operations(tmp_path / "tear-down" / "test.yaml", 0) == ["script", "script"]
    assert operations(tmp_path / "tear-down" / "test.yaml", 1) == ["delete", "error"]
    assert load(placement).steps


def test_a_clean_migration_ends_with_0_one_that_leaves_something_with_1(tmp_path: Path) -> None:
    """So that a script notices."""
    source = tmp_path / "in" / "a"
    source.mkdir(parents=True)
    shutil.copyfile(EXAMPLES / "kuttl" / "e2e" / "placement" / "00-nodes.yaml", source / "00-nodes.yaml")
    run = CliRunner().invoke
    assert run(migrate, ["kuttl", str(tmp_path / "in"), "--out", str(tmp_path / "out")]).exit_code == 0
    (source / "stray.yaml").write_text("a: b\n")
    done = run(migrate, ["kuttl", str(tmp_path / "in"), "--out", str(tmp_path / "again")])
    assert done.exit_code == 1
    assert "stray.yaml:1:1: the file is no step of the test and is not carried over" in done.stdout


def test_no_test_and_an_occupied_folder_are_told(tmp_path: Path) -> None:
    """Nothing is overwritten."""
    (tmp_path / "in").mkdir()
    run = CliRunner().invoke
    assert run(migrate, ["chainsaw", str(tmp_path / "in"), "--out", str(tmp_path / "out")]).exit_code == 5
    done = run(migrate, ["chainsaw", str(tmp_path), "--out", str(tmp_path)])
    assert "is not empty" in str(done.exception)


CHAINSAW = """\
apiVersion: chainsaw.kyverno.io/v1alpha1
kind: Test
metadata: {{name: t}}
spec:
  steps:
  - try:
    - {operation}
"""


@pytest.mark.parametrize(
    ("operation", "said"),
    [
        ("update: {resource: {apiVersion: v1, kind: X, metadata: {name: x}}}", "`update` became `apply`"),
        ("apply: {file: 'gone-*.yaml'}", "there is no file gone-*.yaml"),
        ("apply: {file: 'https://x/y.yaml'}", "is not one beside the test"),
        ("apply: {resource: {apiVersion: v1, kind: X}, dryRun: true}", "`dryRun` of apply is not carried"),
        ("apply: {resource: {kind: (env('HOME'))}}", "has no counterpart"),
        ("delete: {ref: {apiVersion: v1, kind: Pod}}", "all objects of a kind cannot be deleted at once"),
        ("get: {apiVersion: v1, kind: Pod, selector: 'a in (b)'}", "is more than equal labels"),
        ("invent: {}", "there is no such operation"),
        ("{description: hm, events: {}}", "`description` of an operation has no counterpart"),
    ],
)
def test_what_is_left_out_is_told(tmp_path: Path, operation: str, said: str) -> None:
    """Never silently."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "chainsaw-test.yaml").write_text(CHAINSAW.format(operation=operation))
    findings = chainsaw.migrate(tmp_path / "in", tmp_path / "out")
    assert any(said in str(problem) for problem in findings.left)

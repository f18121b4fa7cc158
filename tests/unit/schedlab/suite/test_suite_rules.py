"""Each rule finds what it is for, at its place, and only that; a test may say why one is not for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.suite.lint import check

GOOD = """\
apiVersion: schedlab/v1alpha1
kind: Test
metadata: {name: a-claim, labels: {plugin: NodeAffinity}}
spec:
  steps:
  - name: nodes
    try:
    - nodes: {profile: cpu-32, count: 2}
    - nodes: {profile: h100x8, as: gpu}
  - name: place
    try:
    - pods: {file: pod.yaml}
    - scheduled: {pod: w, within: 5s}
    catch:
    - events: {}
"""
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: w}\nspec: {priorityClassName: system-node-critical}\n"


def problems(folder: Path, text: str, pod: str = POD) -> list[str]:
    (folder / "test.yaml").write_text(text)
    (folder / "pod.yaml").write_text(pod)
    files, found = check([folder])
    assert files == 1
    return [f"{p.position.line}:{p.position.column}: {p.message}" for p in found]


def test_a_test_as_it_should_be_has_no_problems(tmp_path: Path) -> None:
    """The one that the others are changed from."""
    assert problems(tmp_path, GOOD) == []


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("cpu-32", "cpu-31", "8:7: there is no profile 'cpu-31' [unknown-profile]"),
        (
            "{profile: cpu-32, count: 2}",
            '{fleet: "2 cpy"}',
            "8:7: fleet, character 3: there is no node profile 'cpy' [wrong-fleet]",
        ),
        ("- scheduled: {pod: w, within: 5s}", "- events: {}", "6:3: the test asserts nothing [no-assertion]"),
        (
            "labels: {plugin: NodeAffinity}",
            "labels: {area: x}",
            "3:11: nothing shows that the test can fail [no-proof]",
        ),
        ("count: 2", "count: 1", "8:7: only 2 nodes, 3 are the least [few-nodes]"),
        ("within: 5s", "within: 5m", "13:7: within: 5m is too long [long-wait]"),
        (
            "  - name: place\n",
            "  - catch: [{events: {}}]\n  - name: place\n",
            "10:12: `catch` is never reached in a step without `try` [unreachable]",
        ),
    ],
    ids=["profile", "fleet", "assertion", "proof", "nodes", "wait", "catch"],
)
def test_what_makes_a_test_worth_little_is_found(tmp_path: Path, old: str, new: str, told: str) -> None:
    """One change, one problem."""
    assert problems(tmp_path, GOOD.replace(old, new)) == [told]


def test_a_priority_class_that_nobody_makes_is_found(tmp_path: Path) -> None:
    """In the file or inline, unless the test makes it or only a binding knows it."""
    lost = POD.replace("system-node-critical", "urgent")
    told = ["12:7: nothing makes the PriorityClass 'urgent' [unknown-priority]"]
    assert problems(tmp_path, GOOD, lost) == told
    urgent = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: urgent}, value: 5}"
    made = GOOD.replace("    - pods:", f"    - create: {{resource: {urgent}}}\n    - pods:")
    assert problems(tmp_path, made, lost) == []
    bound = POD.replace("system-node-critical", "($test)")
    assert problems(tmp_path, GOOD, bound) == []


def test_counts_that_are_known_only_later_are_not_judged(tmp_path: Path) -> None:
    """Neither too few nor enough."""
    unknown = GOOD.replace("count: 2", "count: (size($test))")
    assert problems(tmp_path, unknown) == []


def test_a_rule_can_be_waived_by_name(tmp_path: Path) -> None:
    """A waiver of no rule is a problem itself."""
    few = GOOD.replace("count: 2", "count: 1")
    waived = few.replace("labels:", 'annotations: {schedlab/lint: "few-nodes"}, labels:')
    assert problems(tmp_path, waived) == []
    wrong = waived.replace('"few-nodes"', '"few-nodes, few-pods"')
    (told,) = problems(tmp_path, wrong)
    assert told.startswith("3:")
    assert "there is no rule 'few-pods'" in told


def test_step_templates_are_checked_by_themselves(tmp_path: Path) -> None:
    """Though no test uses them."""
    head = "apiVersion: schedlab/v1alpha1\nkind: StepTemplate\nmetadata: {name: t}\n"
    template = head + "spec:\n  try: [{nodez: {}}]\n"
    (tmp_path / "t.yaml").write_text(template)
    files, found = check([tmp_path])
    assert files == 1
    assert "there is no operation 'nodez'" in str(found[0])

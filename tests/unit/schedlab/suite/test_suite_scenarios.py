"""Scenarios, step templates and step bindings: what is bound where, and what is wrong with them is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.suite.loader import load
from schedlab.suite.positions import LoadError
from schedlab.suite.scenarios import expanded

HEAD = "apiVersion: schedlab/v1alpha1\nkind: {}\nmetadata: {{name: {}}}\nspec:\n"
TEMPLATE = """\
  bindings:
  - {name: profile, value: cpu-32}
  - {name: count, value: 2}
  try:
  - nodes: {profile: ($profile), count: ($count), as: made}
  - apply: {file: pod.yaml}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a test, with a template in a folder beside the areas."""
    folder = tmp_path / "area" / "a-claim"
    folder.mkdir(parents=True)
    shared = tmp_path / "templates"
    shared.mkdir()
    (shared / "nodes.yaml").write_text(HEAD.format("StepTemplate", "some-nodes") + TEMPLATE)
    (shared / "pod.yaml").write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: w}\n")
    return folder


def write(folder: Path, spec: str) -> Path:
    path = folder / "test.yaml"
    path.write_text(HEAD.format("Test", "a-claim") + spec)
    return path


def problems(path: Path) -> list[str]:
    with pytest.raises(LoadError) as failure:
        load(path)
    return [f"{problem.position.line}: {problem.message}" for problem in failure.value.problems]


SCENARIOS = """\
  bindings: [{name: count, value: 1}]
  scenarios:
  - name: many
    bindings: [{name: count, value: 9}]
  - bindings: [{name: more, value: x}]
  steps:
  - try: [{nodes: {profile: cpu-32, count: ($count)}}]
"""


def test_each_scenario_is_a_test_of_its_own(folder: Path) -> None:
    """With a name, and its values in place of the test's."""
    many, second = expanded(load(write(folder, SCENARIOS)))
    assert [many.id, second.id] == ["area/a-claim.many", "area/a-claim.2"]
    assert [binding.value for binding in many.spec.bindings] == [9]
    assert {binding.name: binding.value for binding in second.spec.bindings} == {"count": 1, "more": "x"}


def test_a_test_without_scenarios_is_one_test(folder: Path) -> None:
    """Under its own name."""
    test = load(write(folder, "  steps: [{try: [{nodes: {profile: cpu-32}}]}]\n"))
    assert expanded(test) == [test]
    assert test.id == "area/a-claim"


def test_a_binding_that_one_scenario_lacks_is_told(folder: Path) -> None:
    """Before any scenario runs."""
    wrong = SCENARIOS.replace("($count)", "($more)")
    assert problems(write(folder, wrong)) == ["11: $more is not bound here"]


def test_two_scenarios_of_one_name_are_refused(folder: Path) -> None:
    """A number that is given as a name counts, too."""
    wrong = SCENARIOS.replace("name: many", 'name: "2"')
    assert problems(write(folder, wrong)) == ["9: two scenarios are called '2'"]


USE = """\
  steps:
  - name: nodes
    use:
      template: ../../templates/nodes.yaml
      with: {bindings: [{name: count, value: 5}]}
  - try: [{scheduled: {pod: w, nodeIn: ($made)}}]
"""


def test_a_template_fills_a_step(folder: Path) -> None:
    """With its operations at their own place, its files found beside it, and the values that it is given."""
    test = load(write(folder, USE))
    step = test.steps[0]
    assert step.name == "nodes"
    assert [(op.tag, op.position.file.name, op.position.line) for op in step.try_] == [
        ("nodes", "nodes.yaml", 9),
        ("apply", "nodes.yaml", 10),
    ]
    assert test.files[step.try_[1].fields["file"]][0]["kind"] == "Pod"
    assert {binding.name: binding.value for binding in step.bindings} == {"profile": "cpu-32", "count": 5}


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("nodes.yaml", "node.yaml", "8: there is no file ../../templates/node.yaml"),
        ("name: count", "name: counts", "9: the template takes no binding 'counts'"),
        ("  - try", "    try: [{events: {}}]\n  - try", "10: a step with `use` has no `try` of its own"),
        ("value: 5", "value: ($gone)", "9: $gone is not bound here"),
        ("nodeIn: ($made)", "nodeIn: [($profile)]", "10: $profile is not bound here"),
    ],
    ids=["no file", "no such binding", "more operations", "unbound value", "bound in the step only"],
)
def test_a_template_that_is_used_wrongly_is_told(folder: Path, old: str, new: str, told: str) -> None:
    """At the place in the test that is wrong."""
    assert problems(write(folder, USE.replace(old, new))) == [told]


def test_a_template_that_is_wrong_is_told_with_its_own_place(folder: Path) -> None:
    """As if one had looked at it alone."""
    shared = folder.parent.parent / "templates" / "nodes.yaml"
    shared.write_text(shared.read_text().replace("profile: ($profile)", "profil: ($profile)"))
    assert problems(write(folder, USE)) == ["9: unknown field 'profil' in nodes"]


def test_step_bindings_are_bound_in_their_step_only(folder: Path) -> None:
    """And may build on each other."""
    bindings = "[{name: a, value: 1}, {name: b, value: ($a + 1)}]"
    step = f"  - bindings: {bindings}\n    try: [{{nodes: {{count: ($b)}}}}]\n"
    load(write(folder, "  steps:\n" + step))
    later = "  - try: [{nodes: {count: ($b)}}]\n"
    assert problems(write(folder, "  steps:\n" + step + later)) == ["8: $b is not bound here"]

"""A test's own mutation: what it changes, and what it may name."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.suite.loader import load
from schedlab.suite.mutation import mutated
from schedlab.suite.plan import Test
from schedlab.suite.positions import LoadError

TEST = """\
apiVersion: schedlab/v1alpha1
kind: Test
metadata: {{name: t}}
spec:
  mutation: {mutation}
  bindings: [{{name: policy, value: Never}}, {{name: size, value: 4}}]
  scheduler:
    config: {{percentageOfNodesToScore: 50, parallelism: 4}}
    flags: [--v=2]
  controlPlane:
    kubeControllerManager: {{node-eviction-rate: 0.5, node-monitor-period: 1s}}
  steps:
  - {{name: machines, try: [{{nodes: {{profile: cpu-32, as: n}}}}]}}
  - {{name: budget, try: [{{events: {{}}}}]}}
  - {{name: place, try: [{{scheduled: {{pod: a, nodeIn: ($n)}}}}]}}
"""


def loaded(folder: Path, mutation: str) -> Test:
    path = folder / "test.yaml"
    path.write_text(TEST.format(mutation=mutation))
    return load(path)


def mutant(folder: Path, mutation: str) -> Test:
    test = loaded(folder, mutation)
    assert test.spec.mutation is not None
    return mutated(test, test.spec.mutation)


def test_bindings_get_other_values(tmp_path: Path) -> None:
    """Those that are not named keep theirs, in their order."""
    test = mutant(tmp_path, "{name: eviction allowed, bindings: [{name: policy, value: Always}]}")
    assert [(b.name, b.value) for b in test.spec.bindings] == [("policy", "Always"), ("size", 4)]


def test_the_schedulers_setup_is_merged(tmp_path: Path) -> None:
    """As the test's own is merged into the scheduler's declaration."""
    test = mutant(tmp_path, "{name: one thread, scheduler: {config: {parallelism: 1}, flags: [--v=5]}}")
    assert test.spec.scheduler.config == {"percentageOfNodesToScore": 50, "parallelism": 1}
    assert test.spec.scheduler.flags == ["--v=2", "--v=5"]


def test_the_control_planes_flags_are_replaced_one_by_one(tmp_path: Path) -> None:
    """Those that are not named stay, also those of other programs."""
    flags = "{kubeControllerManager: {node-eviction-rate: 10}, kubeApiserver: {max-requests-inflight: 5}}"
    needs = mutant(tmp_path, f"{{name: ten a second, controlPlane: {flags}}}").spec.control_plane
    assert needs.kube_controller_manager == {"node-eviction-rate": 10, "node-monitor-period": "1s"}
    assert needs.kube_apiserver == {"max-requests-inflight": 5}
    assert needs.kwok == {}


def test_steps_are_left_out(tmp_path: Path) -> None:
    """How a test goes without what should make the difference."""
    test = mutant(tmp_path, "{name: no budget, without: [budget]}")
    assert [step.name for step in test.steps] == ["machines", "place"]


def test_the_test_itself_stays_as_it_is(tmp_path: Path) -> None:
    """A mutant is a value of its own."""
    test = loaded(tmp_path, "{name: no budget, without: [budget], bindings: [{name: size, value: 1}]}")
    assert [step.name for step in test.steps] == ["machines", "budget", "place"]
    assert test.spec.bindings[1].value == 4


@pytest.mark.parametrize(
    ("mutation", "problem"),
    [
        ("{name: no budget, without: [budgets]}", "there is no step 'budgets' (did you mean 'budget'?)"),
        (
            "{name: other, bindings: [{name: sizes, value: 1}]}",
            "spec.bindings has no 'sizes' (did you mean 'size'?)",
        ),
        ("{name: nothing at all}", "the mutation 'nothing at all' changes nothing"),
        ("{name: no machines, without: [machines]}", "$n is not bound here"),
        ("{name: '?', without: [budget]}", "words that go on after 'with'"),
        ("{without: [budget]}", "name"),
    ],
    ids=[
        "a step that does not exist",
        "a binding that does not exist",
        "nothing is changed",
        "a step that later ones need is left out",
        "a name that is no words",
        "no name",
    ],
)
def test_a_mutation_that_cannot_be_applied_is_found_before_anything_runs(
    tmp_path: Path, mutation: str, problem: str
) -> None:
    """With its line."""
    with pytest.raises(LoadError) as failure:
        loaded(tmp_path, mutation)
    assert problem in str(failure.value)
    assert "test.yaml:" in str(failure.value)

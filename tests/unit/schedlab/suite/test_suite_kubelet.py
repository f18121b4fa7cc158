"""`spec.kubelet`: what a kubelet would refuse is found before anything runs, and a mutation can change it."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.suite.loader import load
from schedlab.suite.mutation import mutated
from schedlab.suite.positions import LoadError
from schedlab.suite.types import KubeletNeeds

TEST = """\
apiVersion: schedlab/v1alpha1
kind: Test
metadata: {{name: t}}
spec:
  kubelet: {kubelet}
  mutation: {mutation}
  steps:
  - {{name: machines, try: [{{nodes: {{profile: cpu-32, as: n}}}}]}}
  - {{name: nothing, try: [{{events: {{}}}}]}}
"""
HARD = "{evictionHard: {memory.available: 1Gi, nodefs.available: 10%}, evictionMaxPodGracePeriod: 5}"


def loaded(folder: Path, kubelet: str = HARD, mutation: str = "{name: less, without: [nothing]}"):
    path = folder / "test.yaml"
    path.write_text(TEST.format(kubelet=kubelet, mutation=mutation))
    return load(path)


def mutant(folder: Path, mutation: str) -> KubeletNeeds:
    test = loaded(folder, mutation=mutation)
    assert test.spec.mutation is not None
    found = mutated(test, test.spec.mutation).spec.kubelet
    assert found is not None
    return found


def test_a_mutation_changes_settings_signal_by_signal(tmp_path: Path) -> None:
    """What it does not name stays."""
    found = mutant(
        tmp_path, "{name: no memory, kubelet: {evictionHard: {memory.available: 0%}, disks: split}}"
    )
    assert found.eviction_hard == {"memory.available": "0%", "nodefs.available": "10%"}
    assert (found.eviction_max_pod_grace_period, found.disks) == (5, "split")


def test_a_mutation_of_something_else_leaves_the_kubelets_alone(tmp_path: Path) -> None:
    """They are as the test declares them."""
    assert mutant(tmp_path, "{name: less, without: [nothing]}").eviction_max_pod_grace_period == 5


@pytest.mark.parametrize(
    ("kubelet", "words"),
    [
        ("{evictionHard: {mem.available: 1Gi}}", "unsupported eviction signal mem.available"),
        ("{evictionSoft: {memory.available: 1Gi}}", "grace period must be specified"),
        ("{evictionHard: {memory.available: 101%}}", "must be <= 100%"),
        ("{evictionHrad: {}}", "unknown field 'evictionHrad'"),
        ("{synchronizePeriod: 5}", "synchronizePeriod"),
    ],
)
def test_what_a_kubelet_would_not_start_with_is_a_problem_of_the_file(
    tmp_path: Path, kubelet: str, words: str
) -> None:
    """With its line, in the kubelet's words."""
    with pytest.raises(LoadError) as caught:
        loaded(tmp_path, kubelet)
    (problem,) = caught.value.problems
    assert words in problem.message
    assert problem.position.line == 5


def test_what_a_mutation_makes_of_the_settings_is_checked_as_well(tmp_path: Path) -> None:
    """At the mutation's own line."""
    with pytest.raises(LoadError) as caught:
        loaded(tmp_path, mutation="{name: nonsense, kubelet: {evictionSoft: {pid.available: '5'}}}")
    (problem,) = caught.value.problems
    assert "grace period must be specified for the soft eviction threshold pid.available" in problem.message
    assert problem.position.line == 6

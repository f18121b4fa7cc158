"""A test file is loaded whole, or all that is wrong with it is told, with lines and ways out."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.suite.loader import load
from schedlab.suite.positions import LoadError

HEAD = "apiVersion: schedlab/v1alpha1\nkind: Test\nmetadata: {name: a-claim}\n"
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: w}\nspec: {}\n"


@pytest.fixture
def write(tmp_path: Path) -> object:
    """Write a test into suites/area/name/ and return its path."""
    folder = tmp_path / "area" / "a-claim"
    folder.mkdir(parents=True)
    (folder / "pod.yaml").write_text(POD)

    def write(steps: str, head: str = HEAD, **files: str) -> Path:
        for name, text in files.items():
            (folder / f"{name}.yaml").write_text(text)
        body = f"spec:\n  steps:\n  - name: one\n    try:\n{steps}" if steps else ""
        path = folder / "test.yaml"
        path.write_text(head + body)
        return path

    return write


def problems(path: Path) -> list[str]:
    with pytest.raises(LoadError) as failure:
        load(path)
    return [str(problem).split("/a-claim/")[-1] for problem in failure.value.problems]


def test_a_good_test_is_loaded_with_its_files(write: object) -> None:
    """Operations keep their place, files their documents."""
    path = write("    - nodes: {profile: cpu-32, count: 2, as: cpu}\n    - apply: {file: pod.yaml}\n")
    test = load(path)
    assert test.id == "area/a-claim"
    assert [(op.tag, op.position.line) for op in test.steps[0].try_] == [("nodes", 8), ("apply", 9)]
    assert test.files["pod.yaml"][0]["kind"] == "Pod"


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("nodez: {}", "test.yaml:8:7: there is no operation 'nodez' (did you mean 'nodes'?)"),
        (
            "nodes: {profil: cpu-32}",
            "test.yaml:8:15: unknown field 'profil' in nodes (did you mean 'profile'?)",
        ),
        ("nodes: {count: many}", "test.yaml:8:22: count is the text 'many', a whole number is needed"),
        ("nodes: {count: 0}", "test.yaml:8:22: count cannot be '0' (Expected `int` >= 1)"),
        ("scheduled: {pod: [a]}", "test.yaml:8:24: pod is a list, text is needed"),
        ("scheduled: {pod: a, within: 5}", "test.yaml:8:35: within is the number '5', text is needed"),
        (
            "scheduled: {pod: a, within: 5 s}",
            "test.yaml:8:35: within cannot be '5 s' (a number with a unit, such as 500ms, 5s or 1m30s)",
        ),
        ("spread: {topologyKey: zone}", "test.yaml:8:15: the field 'selector' is missing in spread"),
        (
            "unschedulable: {pod: a, reason: Gated}",
            "test.yaml:8:39: reason cannot be 'Gated' (known here: SchedulerError, Sch",
        ),
        ("apply: {file: pods.yaml}", "test.yaml:8:21: there is no file pods.yaml (did you mean 'pod.yaml'?)"),
        ("apply: {resource: {kind: Pod}}", "test.yaml:8:25: the object has no apiVersion"),
        ("scheduled: {pod: '($a[)'}", "test.yaml:8:24: ($a[) is not an expression: Syntax error"),
        ("scheduled: {pod: '($gup[0])'}", "test.yaml:8:7: $gup is not bound here (known here: namespace"),
        ("scheduled", "test.yaml:8:7: an operation is a mapping with one key, its name; this has no key"),
    ],
)
def test_each_mistake_has_its_place_and_a_way_out(write: object, operation: str, expected: str) -> None:
    """What a person types wrong, and what they are told."""
    (found,) = problems(write(f"    - {operation}\n"))
    assert found.startswith(expected)


def test_two_operations_in_one_item_are_refused(write: object) -> None:
    """A missing dash."""
    (found,) = problems(write("    - pods: {file: pod.yaml}\n      scheduled: {pod: w}\n"))
    assert "this has 2 keys (start each operation with its own `- `)" in found


def test_all_problems_of_a_file_are_told_at_once(write: object) -> None:
    """In the order of their lines, from the manifest too."""
    steps = "    - nodez: {}\n    - apply: {file: bad.yaml}\n    - scheduled: {pood: a}\n"
    found = problems(write(steps, bad="kind: Pod\nmetadata: {name: (1 +)}\n"))
    assert [line.split(": ")[0] for line in found] == [
        "bad.yaml:1:1",
        "bad.yaml:2:18",
        "test.yaml:8:7",
        "test.yaml:10:19",
    ]


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("", "the file holds 0 documents"),
        (HEAD + "---\n" + HEAD, "the file holds 2 documents"),
        ("- a\n", "this is no mapping"),
        ("kind: Test\n", "no apiVersion, schedlab/v1alpha1 is needed"),
        ("apiVersion: schedlab/v1alpha1\nkind: test\n", "kind is 'test', not 'Test' (did you mean 'Test'?)"),
        (HEAD, "the field 'spec' is missing"),
        (HEAD + "spec: {steps: []}\n", "Expected `array` of length >= 1"),
        (HEAD.replace("a-claim", "A_Claim") + "spec: {steps: [{}]}\n", "name cannot be 'A_Claim'"),
    ],
    ids=["nothing", "two", "a list", "another group", "another kind", "no spec", "no steps", "a wrong name"],
)
def test_what_is_no_test_is_refused(write: object, head: str, expected: str) -> None:
    """With what is needed instead."""
    assert any(expected in problem for problem in problems(write("", head=head)))


def test_bindings_are_known_from_where_they_are_made(write: object) -> None:
    """Across steps, into manifests, and not before."""
    good = '    - nodes: {profile: cpu-32, as: cpu}\n    - scheduled: {pod: w, node: "($cpu[0])"}\n'
    load(write(good))
    early = '    - scheduled: {pod: w, node: "($cpu[0])"}\n    - nodes: {profile: cpu-32, as: cpu}\n'
    assert problems(write(early)) == [
        "test.yaml:8:7: $cpu is not bound here (known here: namespace, scheduler, test)"
    ]
    inside = POD.replace("spec: {}", "spec: {nodeName: ($gone)}")
    assert "$gone is not bound here" in problems(write("    - apply: {file: lost.yaml}\n", lost=inside))[0]


def test_the_index_is_bound_only_in_templates(write: object) -> None:
    """Where there is something to count."""
    numbered = POD.replace("{name: w}", "{name: w, labels: {slot: (string($index))}}")
    load(write("    - pods: {file: numbered.yaml, count: 2}\n", numbered=numbered))
    assert "$index" in problems(write("    - apply: {file: numbered.yaml}\n", numbered=numbered))[0]

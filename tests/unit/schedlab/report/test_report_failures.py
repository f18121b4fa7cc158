"""A failure tells all that is needed to understand it and to see it again."""

from __future__ import annotations

from schedlab.report.failures import rendered, rerun
from schedlab.runner.result import Failure, Result

FAILURE = Failure(
    message="m",
    step="place",
    operation="scheduled",
    position="suites/a/t/test.yaml:9:7",
    expected="pod w bound to n1",
    seen="w is bound to n2",
    since="10:00:00.000Z, 2s before the failure",
    waited=2.04,
    events=("Normal Scheduled Pod w: on n2",),
)
RESULT = Result(
    test="a/t",
    path="suites/a b/test.yaml",
    scheduler="./my.yaml",
    verdict="fail",
    failure=FAILURE,
    notes=("pod w: bound\n  node n1",),
    leftovers=("Pod ns/x (finalizers: f)",),
    artifacts="artifacts/run/x",
)


def test_a_failed_assertion_is_shown_with_its_evidence() -> None:
    """Expected, seen, since when, events, notes, leftovers, the way to rerun it, and where the rest is."""
    assert rendered(RESULT).split("\n") == [
        "suites/a/t/test.yaml:9:7: scheduled in step 'place'",
        "expected:  pod w bound to n1",
        "seen:      w is bound to n2",
        "since:     10:00:00.000Z, 2s before the failure",
        "waited:    2.0s",
        "event:     Normal Scheduled Pod w: on n2",
        "left behind: Pod ns/x (finalizers: f)",
        "pod w: bound",
        "  node n1",
        "rerun:     schedlab test 'suites/a b/test.yaml' --scheduler ./my.yaml",
        "artefacts: artifacts/run/x",
    ]


def test_an_action_that_failed_is_shown_with_its_error() -> None:
    """There is nothing expected or seen."""
    import msgspec

    failure = Failure(message="no answer\ntry again", step="one", operation="apply", position="p:1:1")
    text = rendered(msgspec.structs.replace(RESULT, failure=failure, notes=(), leftovers=()))
    assert text.startswith("p:1:1: apply in step 'one'\nno answer\ntry again\nrerun:")


def test_an_inconclusive_test_says_why() -> None:
    """With or without a failure before that."""
    import msgspec

    dead = msgspec.structs.replace(RESULT, verdict="inconclusive", reason="the scheduler ended")
    assert "inconclusive: the scheduler ended" in rendered(dead)
    assert rendered(msgspec.structs.replace(dead, failure=None)).startswith("the scheduler ended\n")


def test_the_rerun_of_a_sensitivity_run_is_one() -> None:
    """Else it would pass."""
    import msgspec

    assert "--sensitivity" in rendered(msgspec.structs.replace(RESULT, mutation="without NodeAffinity"))


def test_the_rerun_of_a_declared_scheduler_names_its_file() -> None:
    """Its name alone would not be known."""
    import msgspec

    declared = msgspec.structs.replace(RESULT, scheduler="mine", declared="./my own.yaml")
    assert "--scheduler './my own.yaml'" in rendered(declared)


def test_the_rerun_of_a_scenario_runs_no_other() -> None:
    """Its file holds several."""
    import msgspec

    assert rerun(msgspec.structs.replace(RESULT, test="a/t.small")).endswith(
        " --include-test-regex 'a/t.small$'"
    )


def test_a_failure_about_a_pod_says_how_to_ask_the_reference() -> None:
    """About the same moment; a failure about no pod has nobody to ask about."""
    import msgspec

    about = msgspec.structs.replace(FAILURE, objects=("Node n1", "Pod ns/w", "Pod ns/x"))
    known = rendered(msgspec.structs.replace(RESULT, failure=about)).split("\n")
    assert "reference: schedlab replay artifacts/run/x w" in known
    assert "reference:" not in rendered(RESULT)

"""`schedlab test` is pytest: selection, ids, reports, exit codes. The lab is one that knows verdicts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from schedlab.runner import items
from schedlab.runner.result import Failure, Result

TEST = """\
apiVersion: schedlab/v1alpha1
kind: Test
metadata: {{name: {name}, labels: {labels}}}
spec: {{controlPlane: {control_plane}, skip: {skip}, steps: [{{try: [{{events: {{}}}}]}}]}}
"""
FAILURE = Failure(
    message="m", step="place", operation="scheduled", position="x:1:1", expected="on n1", seen="on n2"
)


class FakeLab:
    """Knows the verdict of each run by its title; `pass` unless told."""

    verdicts: dict[str, str] = {}  # noqa: RUF012 - emptied by the fixture
    ran: list[str] = []  # noqa: RUF012 - as above
    closed = 0
    given: list[dict[str, Any]] = []  # noqa: RUF012 - as above

    def __init__(self, backend: object, directory: Path, worker: str = "") -> None:
        self.directory = directory

    def run(self, test: Any, scheduler: Any, *, mutation: str = "", progress: Any, **more: Any) -> Result:
        progress("at work")
        type(self).given.append(more)
        title = f"{test.id}[{scheduler.name}]"
        type(self).ran.append(title)
        verdict = self.verdicts.get(title, "pass")
        failed = verdict == "fail"
        return Result(
            test=test.id,
            path=str(test.path),
            scheduler=scheduler.name,
            verdict=verdict if verdict != "environment" else "inconclusive",  # type: ignore[arg-type]
            reason="no etcd" if verdict == "environment" else "",
            environment=verdict == "environment",
            seconds=3.0,
            failure=FAILURE if failed else None,
            mutation=mutation,
        )

    def close(self) -> None:
        type(self).closed += 1


@pytest.fixture
def suites(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Write suites and run them."""
    FakeLab.verdicts = {}
    FakeLab.ran = []
    FakeLab.given = []
    FakeLab.closed = 0
    monkeypatch.setattr(items, "Lab", FakeLab)
    monkeypatch.delenv("ARTIFACTS", raising=False)

    def write(name: str, labels: str = "{}", skip: str = "false", control_plane: str = "{}") -> Path:
        area, test = name.split("/")
        folder = pytester.path / "suites" / area / test
        folder.mkdir(parents=True)
        (folder / "test.yaml").write_text(
            TEST.format(name=test, labels=labels, skip=skip, control_plane=control_plane)
        )
        return folder / "test.yaml"

    def run(*arguments: str) -> pytest.RunResult:
        arguments = ("-p", "no:asyncio", "-p", "no:hypothesispytest", *arguments)
        return pytester.runpytest_inprocess("suites", *arguments)

    return write, run


BOTH = ("--scheduler", "kube-scheduler", "--scheduler", "kubesched")


def report(pytester: pytest.Pytester) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((pytester.path / "artifacts/latest/report.json").read_text())
    return found


def test_each_test_is_an_item_per_scheduler_sorted_by_scheduler(suites: Any) -> None:
    """So each control plane boots once."""
    write, run = suites
    write("filters/b")
    write("filters/a")
    result = run(*BOTH)
    result.assert_outcomes(passed=4)
    assert FakeLab.ran == [
        "filters/a[kube-scheduler]",
        "filters/b[kube-scheduler]",
        "filters/a[kubesched]",
        "filters/b[kubesched]",
    ]
    assert FakeLab.closed == 1


def test_tests_that_share_a_control_plane_are_neighbours(suites: Any) -> None:
    """The usual one first; so each kind boots once, too."""
    write, run = suites
    write("eviction/a", control_plane="{kwok: {node-lease-duration-seconds: 4}}")
    write("eviction/b")
    write("eviction/c", control_plane="{kwok: {node-lease-duration-seconds: 8}}")
    write("eviction/d", control_plane="{kwok: {node-lease-duration-seconds: 4}}")
    write("eviction/e")
    run()
    assert [title.partition("[")[0][-1] for title in FakeLab.ran] == ["b", "e", "a", "d", "c"]


@pytest.mark.parametrize(
    ("arguments", "ran"),
    [
        (("-k", "gpu-pod"), ["gpu/gpu-pod[kube-scheduler]"]),
        (("-k", "gpu and not pod"), ["gpu/gpu-node[kube-scheduler]"]),
        (("--selector", "tier=slow"), ["gpu/gpu-node[kube-scheduler]"]),
        (("--include-test-regex", "^gpu/.*pod$"), ["gpu/gpu-pod[kube-scheduler]"]),
        (("--exclude-test-regex", "gpu"), ["taints/t[kube-scheduler]"]),
        (("--deselect", "suites/gpu", "--deselect", "suites/taints"), []),
    ],
    ids=["-k", "-k with logic", "labels", "a pattern to include", "a pattern to exclude", "pytest's own"],
)
def test_tests_can_be_selected(suites: Any, arguments: tuple[str, ...], ran: list[str]) -> None:
    """By pytest's means and by Chainsaw's."""
    write, run = suites
    write("gpu/gpu-pod")
    write("gpu/gpu-node", labels="{tier: slow}")
    write("taints/t")
    run(*arguments)
    assert FakeLab.ran == ran


def test_a_failure_shows_expected_seen_and_how_to_rerun(suites: Any) -> None:
    """Not a traceback."""
    write, run = suites
    write("filters/a")
    FakeLab.verdicts = {"filters/a[kube-scheduler]": "fail"}
    result = run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "*filters/a?kube-scheduler?*",
            "x:1:1: scheduled in step 'place'",
            "expected:  on n1",
            "seen:      on n2",
            "rerun:     schedlab test suites/filters/a/test.yaml --scheduler kube-scheduler",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")


def test_last_failed_runs_only_what_failed(suites: Any) -> None:
    """pytest's cache knows the items."""
    write, run = suites
    write("filters/a")
    write("filters/b")
    FakeLab.verdicts = {"filters/b[kube-scheduler]": "fail"}
    run()
    FakeLab.ran = []
    run("--lf")
    assert FakeLab.ran == ["filters/b[kube-scheduler]"]


def test_the_first_failure_can_end_the_run(suites: Any) -> None:
    """-x."""
    write, run = suites
    write("filters/a")
    write("filters/b")
    FakeLab.verdicts = {"filters/a[kube-scheduler]": "fail"}
    run("-x")
    assert FakeLab.ran == ["filters/a[kube-scheduler]"]


def test_a_difference_in_verdict_is_flagged_and_fails_the_run(suites: Any, pytester: pytest.Pytester) -> None:
    """Even where flaky counts as passed."""
    write, run = suites
    write("filters/a")
    write("filters/b")
    FakeLab.verdicts = {"filters/a[kubesched]": "flaky"}
    result = run(*BOTH)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["filters/a*pass*flaky*<- differs", "the schedulers differ in 1 tests: filters/a"]
    )
    assert report(pytester)["differences"] == ["filters/a"]


@pytest.mark.parametrize(
    ("verdict", "arguments", "code"),
    [
        ("pass", (), 0),
        ("fail", (), 1),
        ("inconclusive", (), 1),
        ("flaky", (), 0),
        ("flaky", ("--strict-flaky",), 11),
        ("environment", (), 10),
    ],
)
def test_exit_codes(suites: Any, verdict: str, arguments: tuple[str, ...], code: int) -> None:
    """pytest's, and from 10 on schedlab's own."""
    write, run = suites
    write("filters/a")
    FakeLab.verdicts = {"filters/a[kube-scheduler]": verdict}
    assert run(*arguments).ret == code


def test_no_tests_is_code_5(suites: Any, pytester: pytest.Pytester) -> None:
    """And makes no run directory."""
    _, run = suites
    (pytester.path / "suites").mkdir()
    assert run().ret == 5
    assert not (pytester.path / "artifacts").exists()


def test_a_wrong_file_is_code_4_with_its_problems(suites: Any) -> None:
    """Before anything runs."""
    write, run = suites
    write("filters/a")
    broken = write("filters/b")
    broken.write_text(broken.read_text().replace("events", "evants"))
    result = run()
    assert result.ret == 4
    result.stdout.fnmatch_lines(["*test.yaml:4:*there is no operation 'evants' (did you mean 'events'?)"])
    assert FakeLab.ran == []


def test_an_unknown_scheduler_is_code_4(suites: Any) -> None:
    """With the known ones, and said once, however many tests there are."""
    write, run = suites
    write("filters/a")
    write("filters/b")
    result = run("--scheduler", "nobody")
    assert result.ret == 4
    assert (result.stdout.str() + result.stderr.str()).count("there is no scheduler 'nobody'") == 1


def test_a_test_can_say_skip(suites: Any) -> None:
    """And is counted as skipped."""
    write, run = suites
    write("filters/a", skip="true")
    run().assert_outcomes(skipped=1)
    assert FakeLab.ran == []


def test_the_report_holds_every_result(suites: Any, pytester: pytest.Pytester) -> None:
    """With the evidence."""
    write, run = suites
    write("filters/a")
    FakeLab.verdicts = {"filters/a[kube-scheduler]": "fail"}
    run(*BOTH)
    found = report(pytester)
    assert (found["version"], found["mode"]) == (1, "test")
    assert found["verdicts"] == {"fail": 1, "pass": 1}
    assert [(r["test"], r["scheduler"], r["verdict"]) for r in found["results"]] == [
        ("filters/a", "kube-scheduler", "fail"),
        ("filters/a", "kubesched", "pass"),
    ]
    assert found["results"][0]["failure"]["expected"] == "on n1"


def test_junit_names_tests_as_everything_else_does(suites: Any, pytester: pytest.Pytester) -> None:
    """pytest writes it."""
    write, run = suites
    write("filters/a")
    run("--junitxml", "j.xml")
    assert 'name="filters/a[kube-scheduler]"' in (pytester.path / "j.xml").read_text()


def test_sensitivity_turns_verdicts_and_leaves_out_tests_without_a_plugin(suites: Any) -> None:
    """Grouped by plugin, so that the scheduler is restarted rarely."""
    write, run = suites
    write("filters/a", labels="{plugin: NodeAffinity}")
    write("filters/b", labels="{plugin: NodeResourcesFit}")
    write("filters/c", labels="{plugin: NodeAffinity}")
    write("filters/d")
    result = run("--sensitivity")
    assert FakeLab.ran == [
        "filters/a[kube-scheduler]",
        "filters/c[kube-scheduler]",
        "filters/b[kube-scheduler]",
    ]
    assert result.ret == 1
    result.assert_outcomes(failed=3)
    result.stdout.fnmatch_lines(
        ["*filters/a?kube-scheduler without NodeAffinity?*", "insensitive: it passes without*"]
    )


def test_schedlabs_own_terminal_prints_a_line_per_test_and_the_table(
    suites: Any, pytester: pytest.Pytester
) -> None:
    """And JUnit goes into the run directory."""
    write, run = suites
    write("filters/a")
    write("filters/b")
    FakeLab.verdicts = {"filters/a[kube-scheduler]": "fail"}
    result = run("-q", "-s", "--schedlab-terminal")
    result.stdout.fnmatch_lines(
        [
            "FAIL *filters/a?kube-scheduler?*",
            "PASS *filters/b?kube-scheduler?*",
            "*FAILURES*",
            "expected:  on n1",
            "test *kube-scheduler",
            "filters/a *fail*",
            "filters/b *pass*",
            "artefacts: *",
            "1 failed, 1 passed in *",
        ]
    )
    assert (pytester.path / "artifacts/latest/junit.xml").exists()


def test_other_test_yaml_files_and_plain_pytest_runs_are_left_alone(pytester: pytest.Pytester) -> None:
    """The plugin is loaded wherever schedlab is installed."""
    (pytester.path / "test.yaml").write_text("kind: Test\n")
    pytester.makepyfile("def test_a(): pass")
    result = pytester.runpytest_inprocess("-p", "no:asyncio", "-p", "no:hypothesispytest")
    result.assert_outcomes(passed=1)
    assert not (pytester.path / "artifacts").exists()


def with_spec(path: Path, more: str) -> None:
    """Add fields to the spec of a written test."""
    path.write_text(path.read_text().replace("spec: {", f"spec: {{{more}, "))


def test_scenarios_are_tests_of_their_own(suites: Any, pytester: pytest.Pytester) -> None:
    """Selected, run and reported by their own names."""
    write, run = suites
    rows = "scenarios: [{name: few, bindings: [{name: n, value: 1}]}, {bindings: [{name: n, value: 2}]}]"
    with_spec(write("filters/a"), rows)
    FakeLab.verdicts = {"filters/a.2[kube-scheduler]": "fail"}
    run().assert_outcomes(passed=1, failed=1)
    assert {found["test"]: found["verdict"] for found in report(pytester)["results"]} == {
        "filters/a.few": "pass",
        "filters/a.2": "fail",
    }
    FakeLab.ran = []
    run("-k", "few")
    assert FakeLab.ran == ["filters/a.few[kube-scheduler]"]


def test_shards_split_tests_and_keep_schedulers_together(suites: Any) -> None:
    """Each test once, on both schedulers in one place."""
    write, run = suites
    for name in "abcde":
        write(f"filters/{name}")
    parts = []
    for number in (1, 2):
        FakeLab.ran = []
        run("--shard", f"{number}/2", *BOTH)
        parts.append(FakeLab.ran)
    assert sorted(parts[0] + parts[1]) == sorted(f"filters/{n}[{s}]" for n in "abcde" for s in BOTH[1::2])
    assert all(len({title[:9] for title in part}) * 2 == len(part) for part in parts)


@pytest.mark.parametrize("arguments", [("--shard", "3/2"), ("--shard", "1/2", "--durations-from", "none")])
def test_a_shard_that_does_not_exist_is_code_4(suites: Any, arguments: tuple[str, ...]) -> None:
    """Rather than no test at all."""
    write, run = suites
    write("filters/a")
    assert run(*arguments).ret == 4
    assert FakeLab.ran == []


def test_a_test_says_itself_how_often_it_is_tried(suites: Any) -> None:
    """Instead of the option, which holds for the others."""
    write, run = suites
    with_spec(write("filters/a"), "flakeAttempts: 3")
    write("filters/b")
    run("--flake-attempts", "2")
    assert [given["attempts"] for given in FakeLab.given] == [3, 2]


def test_what_takes_too_long_is_told_and_passes(suites: Any, pytester: pytest.Pytester) -> None:
    """A test's own budget wins over the option."""
    write, run = suites
    with_spec(write("filters/a"), "budget: 1m")
    write("filters/b")
    result = run("--budget", "2s")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["over budget: filters/b?kube-scheduler? took 3.0s, its budget is 2s"])
    result.stdout.no_fnmatch_line("over budget: filters/a*")
    assert [found["budget"] for found in report(pytester)["results"]] == [60.0, 2.0]


def test_flaky_is_a_state_of_its_own_everywhere(suites: Any, pytester: pytest.Pytester) -> None:
    """Terminal, table, JUnit and JSON."""
    write, run = suites
    write("filters/a")
    FakeLab.verdicts = {"filters/a[kube-scheduler]": "flaky"}
    result = run("--junitxml", "j.xml", "--schedlab-terminal", "-q", "-s")
    result.stdout.fnmatch_lines(["FLAKY *filters/a?kube-scheduler?*", "filters/a *flaky*", "1 flaky in *"])
    assert report(pytester)["verdicts"] == {"flaky": 1}
    assert '<property name="verdict" value="flaky"' in (pytester.path / "j.xml").read_text()


def test_programs_are_allowed_only_if_the_caller_says_so(suites: Any) -> None:
    """Never by a test itself."""
    write, run = suites
    write("filters/a")
    run()
    run("--allow-scripts")
    assert [given["allow_scripts"] for given in FakeLab.given] == [False, True]


def test_github_gets_annotations_and_a_summary(
    suites: Any, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By itself, where it runs the tests."""
    write, run = suites
    write("filters/a")
    FakeLab.verdicts = {"filters/a[kube-scheduler]": "inconclusive"}
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(pytester.path / "summary.md"))
    run().stdout.no_fnmatch_line("::error*")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(pytester.path))
    run().stdout.fnmatch_lines(["::error file=suites/filters/a/test.yaml,line=1,col=1,title=filters/a*"])
    assert "| filters/a | kube-scheduler |" in (pytester.path / "summary.md").read_text()


def test_a_repeated_run_finds_flakes(suites: Any, pytester: pytest.Pytester) -> None:
    """All tests one time after the other; runs that disagree are one flaky test, named with its runs."""
    write, run = suites
    write("a/one")
    write("a/two")
    FakeLab.verdicts = {"a/two[kubesched]": "fail"}
    ran = run("--scheduler", "kubesched", "--repeat", "2", "--schedlab-terminal", "-s")
    assert FakeLab.ran == ["a/one[kubesched]", "a/two[kubesched]"] * 2
    assert [(r["test"], r["repeat"]) for r in report(pytester)["results"]] == [
        ("a/one", 1),
        ("a/two", 1),
        ("a/one", 2),
        ("a/two", 2),
    ]
    ran.stdout.fnmatch_lines(
        ["*a/two[[]kubesched #2[]]*", "tests: 2, schedulers: 1, runs of each: 2: no flake"]
    )


def test_a_run_leaves_a_page(suites: Any, pytester: pytest.Pytester) -> None:
    """Beside its report, under pytest as under `schedlab test`."""
    write, run = suites
    write("a/one")
    run(*BOTH)
    assert "a/one" in (pytester.path / "artifacts/latest/report.html").read_text()

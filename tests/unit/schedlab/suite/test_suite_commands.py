"""The command line: fast help, errors with a way out, pytest's options passed on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from schedlab.cli import COMMANDS, cli, main
from schedlab.runner.command import arguments
from schedlab.suite.commands import lint

GOOD = (
    "apiVersion: schedlab/v1alpha1\nkind: Test\nmetadata: {name: a}\nspec: {steps: [{try: [{events: {}}]}]}\n"
)


def test_help_imports_no_command() -> None:
    """Help is what people wait for most often."""
    code = (
        "import sys\nfrom schedlab.cli import cli\ntry: cli(['--help'])\nexcept SystemExit: pass\n"
        "heavy = {'pytest', 'kubernetes', 'aiohttp', 'yaml', 'msgspec', 'rich'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for name in COMMANDS:
        assert name in done.stdout


def test_an_unknown_command_is_answered_with_the_closest_one() -> None:
    """Exit code 2, as for every wrong usage of click."""
    result = CliRunner().invoke(cli, ["tst"])
    assert result.exit_code == 2
    assert "did you mean 'test'?" in result.output


def test_an_error_is_a_message_and_a_hint(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Never a traceback."""
    from schedlab.errors import EnvironmentStartError

    def broken(**_options: object) -> None:
        raise EnvironmentStartError("no etcd", hint="install it")

    monkeypatch.setattr("schedlab.cli.cli", broken)
    with pytest.raises(SystemExit) as failure:
        main()
    assert failure.value.code == 10
    assert capsys.readouterr().err == "error: no etcd\nhint: install it\n"


def test_lint_tells_every_problem_as_a_link(tmp_path: Path) -> None:
    """Exit code 4, pytest's for wrong usage."""
    folder = tmp_path / "area" / "a"
    folder.mkdir(parents=True)
    (folder / "test.yaml").write_text(GOOD.replace("events", "evants"))
    result = CliRunner().invoke(lint, [str(tmp_path)])
    assert result.exit_code == 4
    assert (
        f"{folder}/test.yaml:4:24: there is no operation 'evants' (did you mean 'events'?)" in result.output
    )


def test_lint_passes_good_files_and_counts_them(tmp_path: Path) -> None:
    """Nothing to check is not a pass."""
    assert CliRunner().invoke(lint, [str(tmp_path)]).exit_code == 5
    claims = "{error: {resource: {apiVersion: v1, kind: Pod}}}"
    worth = GOOD.replace("name: a", "name: a, labels: {plugin: NodeName}").replace("{events: {}}", claims)
    (tmp_path / "test.yaml").write_text(worth)
    result = CliRunner().invoke(lint, [str(tmp_path)])
    assert (result.exit_code, result.output) == (0, "1 files, 0 problems\n")


def test_lint_finds_two_tests_of_one_id(tmp_path: Path) -> None:
    """One would hide the other in every report."""
    for folder in ("one", "two"):
        (tmp_path / "area" / folder).mkdir(parents=True)
        (tmp_path / "area" / folder / "test.yaml").write_text(GOOD)
    assert "area/a is also the id of" in CliRunner().invoke(lint, [str(tmp_path)]).output


def test_lint_checks_schedulers_too(tmp_path: Path) -> None:
    """A declaration is recognised by its kind."""
    head = "apiVersion: schedlab/v1alpha1\nkind: Scheduler\nmetadata: {name: mine}\n"
    (tmp_path / "mine.yaml").write_text(head + "spec: {comand: [x]}\n")
    assert "did you mean 'command'?" in CliRunner().invoke(lint, [str(tmp_path)]).output


def test_options_become_pytests() -> None:
    """What schedlab does not know is pytest's, in the order given."""
    options: dict[str, object] = {
        "scheduler": ("a", "b"),
        "parallel": 2,
        "fail_fast": True,
        "selector": "x=y",
    }
    argv = arguments(("-k", "gpu", "suites"), options)
    assert argv[-3:] == ["-k", "gpu", "suites"]
    for flag in ("--scheduler=a", "--scheduler=b", "--numprocesses=2", "-x", "--selector=x=y"):
        assert flag in argv
    assert "--sensitivity" not in argv

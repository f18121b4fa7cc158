"""The command line from outside: help, version, errors, exit codes."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest
import yaml

from kubesched import cli
from kubesched.config.load import loads

HEAVY = {"aiohttp", "numpy", "msgspec", "yaml", "click", "cryptography", "prometheus_client", "asyncio"}


@pytest.fixture(autouse=True)
def _restored_logging():
    """A run configures logging for its process; here it is put back."""
    root, ours = logging.getLogger(), logging.getLogger("kubesched")
    before = root.handlers[:], root.level, ours.level
    yield
    root.handlers[:], root.level = before[0], before[1]
    ours.setLevel(before[2])


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kubesched", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)


def called(capsys, *arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a call in this process."""
    with pytest.raises(SystemExit) as left:
        cli.main(arguments)
    out, err = capsys.readouterr()
    return left.value.code, out, err


def test_the_help_imports_nothing_heavy():
    """Its speed follows from this; a time limit in a unit test would only measure the machine."""
    code = (
        "import sys\ntry:\n    from kubesched.cli import main; main(['--help'])\nexcept SystemExit: pass\n"
        f"print(sorted({HEAVY!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_help_is_printed_and_succeeds(capsys):
    code, out, _ = called(capsys, "--help")
    assert code == 0
    assert "Leader election flags:" in out


def test_the_version_names_the_kubernetes_it_behaves_as(capsys):
    assert called(capsys, "--version")[1].endswith("(Kubernetes v1.36.3)\n")
    assert "Python 3." in called(capsys, "--version=raw")[1]


def test_a_wrong_flag_shows_the_usage_and_the_error(capsys):
    code, _, err = called(capsys, "--foo")
    assert code == 1
    assert err.endswith("\nError: unknown flag: --foo\n")
    assert "Misc flags:" in err


def test_a_wrong_configuration_fails_with_its_place(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nparalelism: 3\n"
    )
    done = run("--config", str(path))
    assert done.returncode == 1
    assert "command failed" in done.stderr
    assert f'{path}:3:1: paralelism: unknown field (did you mean \\"parallelism\\"?)' in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--feature-gates=Foo=true"], "unrecognized feature gate: Foo"),
        (["--config=/nope"], "open /nope: no such file or directory"),
        (["--kubeconfig=/nope"], "stat /nope: no such file or directory"),
        (["--vmodule=x"], "does not have the pattern=N format"),
    ],
    ids=["gate", "file", "kubeconfig", "vmodule"],
)
def test_what_prevents_a_start_is_said_and_fails(capsys, arguments, message):
    code, _, err = called(capsys, *arguments)
    assert code == 1
    assert message in err


def test_the_configuration_is_written_instead_of_running(capsys, tmp_path):
    path = tmp_path / "out.yaml"
    code, _, _ = called(
        capsys, f"--write-config-to={path}", "--kubeconfig=k", "--leader-elect-resource-name=mine"
    )
    assert code == 0
    written = yaml.safe_load(path.read_text())
    assert written["clientConnection"]["kubeconfig"] == "k"
    assert written["leaderElection"]["resourceName"] == "mine"
    assert loads(path.read_text())


def test_flags_without_effect_are_named(capsys, tmp_path):
    arguments = (
        f"--write-config-to={tmp_path / 'o'}",
        "--disable-http2-serving",
        "--tls-curve-preferences=23",
    )
    _, _, err = called(capsys, *arguments)
    assert 'flag="--disable-http2-serving"' in err
    assert 'flag="--tls-curve-preferences"' in err


def test_flags_that_the_file_overrules_are_named(capsys, tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n")
    _, _, err = called(capsys, f"--config={path}", f"--write-config-to={tmp_path / 'o'}", "--kubeconfig=k")
    assert 'ignored because --config is given" flag="--kubeconfig"' in err

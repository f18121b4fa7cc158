"""`kubesched new-plugin` makes a project that is right as it stands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from kubesched.new_plugin.command import new_plugin, spelling, write


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    where = tmp_path_factory.mktemp("made") / "it"
    write("RackPower", where)
    return where


def inside(project: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(project / "src")}
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=project, env=environment, capture_output=True, text=True,
        check=False, timeout=60,
    )  # fmt: skip


def test_it_is_formatted_and_free_of_findings(project):
    done = inside(project, "ruff", "check", "--no-cache", ".")
    assert done.returncode == 0, done.stdout
    done = inside(project, "ruff", "format", "--no-cache", "--check", ".")
    assert done.returncode == 0, done.stdout


def test_nothing_of_the_template_is_left(project):
    for path in project.rglob("*"):
        assert "my" not in path.name.lower()
        if path.is_file():
            assert "my_plugin" not in path.read_text().lower().replace("-", "_")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("PowerBudget", "power-budget"), ("GPUHealth", "gpu-health"), ("X", "x"), ("H100Only", "h100-only")],
)
def test_names_are_spelt_in_lower_case(name, expected):
    assert spelling(name, "-") == expected


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        pytest.param(["power-budget"], "is no plugin name: write words together", id="no class name"),
        pytest.param(["NodePorts"], "is a plugin of kubesched itself", id="a name that is taken"),
        pytest.param(["Fine", "."], ". is there and not empty", id="a directory that is not empty"),
    ],
)
def test_it_refuses(arguments, text, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(new_plugin, arguments)
    assert done.exit_code == 1
    assert text in done.output

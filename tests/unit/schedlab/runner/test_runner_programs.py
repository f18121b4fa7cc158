"""Programs run only where that is allowed, know nothing of the caller, and do not outlive their time."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from schedlab import timing
from schedlab.operations.base import OperationError
from schedlab.runner.programs import Programs


def programs(folder: Path, *, allowed: bool = True) -> Programs:
    tools = SimpleNamespace(path=lambda _name: Path("/opt/tools/kubectl"))
    control_plane: Any = SimpleNamespace(tools=tools, kubeconfig=lambda: folder / "kubeconfig")
    return Programs(control_plane, "ns-1", folder, allowed=allowed)


def ended(pid: int) -> bool:
    """True if a process is gone, or is only waited for."""
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().split(")")[1].split()[0] == "Z"


async def test_nothing_runs_unless_it_is_allowed(tmp_path: Path) -> None:
    """With the way out."""
    with pytest.raises(OperationError, match="not allowed") as refused:
        await programs(tmp_path, allowed=False).run(["touch", "x"], {}, 5)
    assert "--allow-scripts" in str(refused.value.hint)
    assert not (tmp_path / "x").exists()


async def test_the_environment_is_clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the caller has in his is not there; what the test gives is."""
    monkeypatch.setenv("SECRET", "x")
    done = await programs(tmp_path).run(["env"], {"MINE": "1"}, 5)
    names = {line.partition("=")[0] for line in done.stdout.splitlines()}
    assert names - {"PWD", "SHLVL", "_"} == {"PATH", "HOME", "KUBECONFIG", "NAMESPACE", "LANG", "MINE"}
    assert "PATH=/opt/tools:" in done.stdout
    assert "NAMESPACE=ns-1" in done.stdout


async def test_output_and_exit_code_are_told_apart(tmp_path: Path) -> None:
    """It runs in the test's folder; an argument is passed as it is."""
    (tmp_path / "here").touch()
    done = await programs(tmp_path).run(["sh", "-c", "ls; echo bad >&2; exit 3", "$HOME; ls"], {}, 5)
    assert (done.stdout, done.stderr, done.code) == ("here\n", "bad\n", 3)


async def test_what_takes_too_long_is_ended_with_its_children(tmp_path: Path) -> None:
    """The whole process group, or the output would stay open for as long as the child sleeps."""
    script = "sleep 30 & echo $! > child; wait"
    with pytest.raises(OperationError, match="sh had not ended after"):
        await programs(tmp_path).run(["sh", "-c", script], {}, 1.0)
    child = int((tmp_path / "child").read_text())

    async def gone() -> bool | None:
        return ended(child) or None

    assert await timing.poll(gone, timing.Deadline.after(10))


async def test_a_program_that_does_not_exist_is_told(tmp_path: Path) -> None:
    """As an error of the test."""
    with pytest.raises(OperationError, match="no-such-program cannot be started"):
        await programs(tmp_path).run(["no-such-program"], {}, 5)

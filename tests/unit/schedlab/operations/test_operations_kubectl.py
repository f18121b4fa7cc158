"""`kubectl` judges how the program ends and what it says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from operations_world import RecordingEnv, World

from schedlab.operations.base import OperationError, Unmet
from schedlab.operations.kubectl import KubectlOperation


class Shell(RecordingEnv):
    """A kubectl that ends in a given way."""

    def __init__(self, code: int | None = 0, output: str = "node/n1 drained\n") -> None:
        super().__init__(World())
        self.code = code
        self.output = output

    def start(self, args: Sequence[str]) -> str:
        self.done.append(("start", *args))
        return "kubectl-1"

    async def finished(self, name: str, seconds: float) -> tuple[int | None, str]:
        self.done.append(("finished", name, str(seconds)))
        return self.code, self.output


async def run(shell: Shell, **fields: object) -> Any:
    return await msgspec.convert(fields, KubectlOperation).run(shell, 3.0)


async def test_it_is_run_to_its_end_and_its_output_is_bound() -> None:
    """Within the time that the operation has."""
    shell = Shell()
    assert await run(shell, args=["drain", "n1"], output=["drained"]) == "node/n1 drained\n"
    assert shell.done == [("start", "drain", "n1"), ("finished", "kubectl-1", "3.0")]


async def test_another_exit_code_fails_with_its_words() -> None:
    """In either direction."""
    with pytest.raises(Unmet, match=r"drain n1 to end with exit code 0; seen: exit code 1: error: no"):
        await run(Shell(1, "error: no"), args=["drain", "n1"])
    with pytest.raises(Unmet, match="exit code 0: node/n1 drained"):
        await run(Shell(), args=["drain", "n1"], exit=1)


async def test_a_text_that_it_lacks_fails() -> None:
    """All have to be there."""
    with pytest.raises(Unmet, match="to print 'cordoned'"):
        await run(Shell(), args=["drain", "n1"], output=["drained", "cordoned"])


async def test_one_that_does_not_end_fails() -> None:
    """It is bounded, whatever it waits for."""
    with pytest.raises(Unmet, match="it still runs; it has printed: evicting pod"):
        await run(Shell(None, "evicting pod ns/a"), args=["drain", "n1"])


async def test_one_in_the_background_is_waited_for_by_its_name() -> None:
    """Two operations, between which others can act."""
    shell = Shell()
    name = await run(shell, args=["drain", "n1"], wait=False)
    assert shell.done == [("start", "drain", "n1")]
    assert await run(shell, run=name) == "node/n1 drained\n"
    assert shell.done[-1] == ("finished", "kubectl-1", "3.0")


@pytest.mark.parametrize("fields", [{}, {"args": ["version"], "run": "kubectl-1"}])
async def test_what_to_run_is_said_in_one_way(fields: dict[str, object]) -> None:
    """Arguments, or one that runs."""
    with pytest.raises(OperationError, match="either `args` or `run`"):
        await run(Shell(), **fields)

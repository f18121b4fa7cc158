"""A scheduler's own `explain` as a source of decisions: a child process that answers JSON lines.

The schema is kubesched's (`kubesched explain --input-format jsonl`), but any program that speaks it will do.
schedlab imports nothing from it.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from asyncio.subprocess import Process
from collections import deque
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import msgspec

from schedlab.decisions.decision import UNOBSERVED, Candidate, Decision, Preemption, Refusal
from schedlab.errors import SchedlabError

#: How kubesched is asked when nothing else is said.
KUBESCHED = (sys.executable, "-m", "kubesched", "explain", "--input-format", "jsonl")
_LINE_LIMIT = 256 * 1024 * 1024


def decode(answer: Mapping[str, Any]) -> Decision:
    """One answer of `explain` as a decision. Raises KeyError if the answer lacks what its schema requires."""
    nodes = answer["nodes"]
    feasible = {name: node for name, node in nodes.items() if node["feasible"]}
    scored = {name: node for name, node in feasible.items() if "total" in node}
    refused = {
        name: Refusal(node.get("plugin", ""), tuple(node.get("reasons", ())), node.get("unresolvable", False))
        for name, node in nodes.items()
        if not node["feasible"]
    }
    return Decision(
        pod=answer["pod"],
        result=answer["result"],
        message=answer["message"],
        feasible=frozenset(feasible) if answer["result"] not in ("Gated", "Error") else UNOBSERVED,
        scores={name: node["scores"] for name, node in scored.items()} or UNOBSERVED,
        totals={name: node["total"] for name, node in scored.items()} or UNOBSERVED,
        legal=frozenset(answer["selected"]),
        refusals=refused,
        preemption=_preemption(answer["preemption"]),
    )


def _preemption(raw: Mapping[str, Any] | None) -> Preemption:
    if raw is None:
        return Preemption(candidates={}, best=frozenset())
    candidates = {node: Candidate(frozenset(victims)) for node, victims in raw["candidates"].items()}
    return Preemption(candidates=candidates, best=frozenset(raw["best"]))


class Explain:
    """A running `explain`; an async context manager. Questions may overlap; answers come in their order."""

    def __init__(self, argv: Sequence[str] = KUBESCHED) -> None:
        self._argv = tuple(argv)
        self._child: Process | None = None
        self._waiting: deque[asyncio.Future[bytes]] = deque()
        self._tasks: list[asyncio.Task[None]] = []
        self._errors = b""

    async def __aenter__(self) -> Self:
        pipe = asyncio.subprocess.PIPE
        child = await asyncio.create_subprocess_exec(
            *self._argv, stdin=pipe, stdout=pipe, stderr=pipe, limit=_LINE_LIMIT
        )
        self._child = child
        self._tasks = [
            asyncio.create_task(self._read_errors(child)),
            asyncio.create_task(self._read_answers(child)),
        ]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._child is None:
            return
        if self._child.stdin is not None:
            self._child.stdin.close()
        if kind is not None and self._child.returncode is None:
            self._child.kill()
        await asyncio.gather(*self._tasks)
        await self._child.wait()

    async def ask(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """The raw answer to one question: `{"objects": […], "pod": {…}}` or `{"events": […], "pod": {…}}`.

        Raises:
            SchedlabError: the program has ended, or printed something that is not JSON.
        """
        if self._child is None or self._child.stdin is None:
            raise SchedlabError("explain is used outside its context", hint="use `async with Explain(...)`")
        if self._child.returncode is not None:
            raise self._ended()
        answered = asyncio.get_running_loop().create_future()
        self._waiting.append(answered)
        self._child.stdin.write(msgspec.json.encode(question) + b"\n")
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):  # the reader then says why it ended
            await self._child.stdin.drain()
        line = await answered
        try:
            return msgspec.json.decode(line, type=dict[str, Any])
        except msgspec.DecodeError as error:
            raise SchedlabError(
                f"explain printed a line that is not JSON: {line[:200]!r}", hint="its log belongs on stderr"
            ) from error

    async def ask_all(
        self, questions: Iterable[Mapping[str, Any]], *, in_flight: int = 32
    ) -> AsyncIterator[dict[str, Any]]:
        """The raw answer to each question in turn, while up to `in_flight` later ones are on their way."""
        ahead: deque[asyncio.Task[dict[str, Any]]] = deque()
        try:
            for question in questions:
                ahead.append(asyncio.create_task(self.ask(question)))
                if len(ahead) >= in_flight:
                    yield await ahead.popleft()
            while ahead:
                yield await ahead.popleft()
        finally:
            for task in ahead:
                task.cancel()

    async def _read_errors(self, child: Process) -> None:
        assert child.stderr is not None  # noqa: S101 - the child was started with pipes
        while chunk := await child.stderr.read(65536):
            self._errors = (self._errors + chunk)[-8192:]

    async def _read_answers(self, child: Process) -> None:
        assert child.stdout is not None  # noqa: S101 - the child was started with pipes
        while line := await child.stdout.readline():
            if self._waiting and not (waiting := self._waiting.popleft()).done():
                waiting.set_result(line)
        await child.wait()
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_exception(self._ended())

    def _ended(self) -> SchedlabError:
        said = self._errors.decode(errors="replace").strip()[-2000:]
        return SchedlabError(
            f"{' '.join(self._argv)} ended without an answer: {said or 'it said nothing'}",
            hint="run the command by hand with the state on its standard input",
        )

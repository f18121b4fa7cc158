"""Follows a documentation page as a reader would: files are written, commands typed, outputs compared.

A fence that says ```` ```yaml title=path ```` is that file. In a ```` ```console ```` block a line that
starts with `$ ` is a command (a trailing backslash continues it) and what follows is what it prints; `…`
stands for any text in a line, and alone on a line for any number of lines. All commands of a page run in one
shell, so `cd` and an activated environment last, and each must end with exit code 0.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
ELLIPSIS = "…"
_MARK = "\x1e"
_FENCE = re.compile(r"^( *)```(\w*)(?: +title=(\S+))? *\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_END = "END-OF-THE-FILE-ON-THE-PAGE"


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the file that it is (or nothing), its text, and its line on the page."""

    language: str
    title: str
    text: str
    line: int


@dataclass(frozen=True)
class Command:
    """A typed command with the lines that the page shows as its output."""

    text: str
    expected: list[str]
    line: int


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text()
    found = []
    for match in _FENCE.finditer(text):
        indent = len(match[1])
        body = "".join(line[indent:] or line[-1:] for line in match[4].splitlines(keepends=True))
        found.append(Block(match[2], match[3] or "", body, text.count("\n", 0, match.start()) + 1))
    return found


def commands(block: Block) -> Iterator[Command]:
    """The commands of a console block."""
    lines = block.text.splitlines()
    number = 0
    while number < len(lines):
        start = number
        assert lines[number].startswith("$ "), f"line {block.line + 1 + number}: a command starts with `$ `"
        text = lines[number][2:]
        number += 1
        while text.endswith("\\"):
            text += "\n" + lines[number]
            number += 1
        expected = []
        while number < len(lines) and not lines[number].startswith("$ "):
            expected.append(lines[number])
            number += 1
        yield Command(text, expected, block.line + 1 + start)


def follow(
    page: Path, where: Path, environment: Mapping[str, str], *, after: Mapping[str, str] | None = None
) -> None:
    """Follow a page in a directory; AssertionError names the line where the page and the world differ.

    `after` names commands after which another is to run, for what a reader's machine has and this one lacks.
    """
    script, typed = ["exec 2>&1"], []
    for block in blocks(page):
        if block.title:
            script.append(f"mkdir -p \"$(dirname '{block.title}')\"")
            script.append(f"cat > '{block.title}' <<'{_END}'\n{block.text}{_END}")
        elif block.language == "console":
            for command in commands(block):
                script.append(f"printf '{_MARK}'")
                script.append(command.text)
                script.append(f"printf '{_MARK}%d' $?")
                script += [text for start, text in (after or {}).items() if command.text.startswith(start)]
                typed.append(command)
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)],
        cwd=where, env=dict(environment), stdin=subprocess.DEVNULL, capture_output=True, text=True,
        check=False, timeout=540,
    )  # fmt: skip
    parts = done.stdout.split(_MARK)[1:]
    for command, output, status in zip(typed, parts[::2], parts[1::2], strict=False):
        _compare(page, command, output, re.match(r"\d+", status)[0])
    assert len(parts) == 2 * len(typed), f"{page.name}: the shell ended early: {done.stdout[-2000:]}"


def _compare(page: Path, command: Command, output: str, status: str) -> None:
    where = f"{page.name}:{command.line}: $ {command.text}"
    assert status == "0", f"{where}\nended with exit code {status}:\n{output}"
    shown = "\n".join(line.rstrip() for line in command.expected).strip()
    got = "\n".join(line.rstrip() for line in output.splitlines()).strip()
    assert matches(shown, got), f"{where}\nthe page shows\n{shown}\nbut it printed\n{got}"


def matches(shown: str, got: str) -> bool:
    """Whether an output is as shown; a page may leave out all of it."""
    if not shown:
        return True
    pattern = ""
    for line in shown.splitlines():
        if line.strip() == ELLIPSIS:
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(map(re.escape, line.split(ELLIPSIS))) + r"\n"
    return re.fullmatch(pattern, got + "\n") is not None

"""report.html: the whole run as one page that needs nothing else, neither a network nor other files.

Its policy allows the one style and the one script that it carries, by their hashes, and nothing more. The
list is plain JSON; what is drawn of each test is compressed and unpacked when the test is opened, so a page
of thousands of tests is shown at once and stays small. Whatever comes from a cluster is data: JSON without a
`<`, or base64, and the script makes text of it, never markup.
"""

from __future__ import annotations

import base64
import hashlib
import html
import zlib
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

import msgspec

from schedlab.report.document import Report
from schedlab.report.failures import replay, rerun
from schedlab.report.story import Story
from schedlab.report.table import matrix, schedulers
from schedlab.runner.result import Result
from schedlab.suite.positions import shown

FILE = "report.html"
Teller = Callable[[Result], Story]
_END = "</body>\n</html>\n"


class Detail(msgspec.Struct, frozen=True):
    """What the page unpacks when a test is opened."""

    result: Result
    story: Story
    rerun: str
    replay: str
    files: str


class Cell(msgspec.Struct, frozen=True):
    """One test on one scheduler in the list; `detail` is where the rest of it is in the page."""

    verdict: str
    seconds: float
    detail: str


def write(report: Report, tell: Teller, file: Path) -> Path:
    """Write the page; `tell` gives the story of a result."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(_parts(report, tell, file.resolve().parent))
    return file


def _parts(report: Report, tell: Teller, home: Path) -> Iterator[str]:
    """The page, piece by piece: its head with list and script, then one block per test and scheduler."""
    rows = matrix(report.results)
    names = schedulers(rows)
    details: list[Result] = []
    tests: list[tuple[str, list[Cell | None]]] = []
    for test, row in rows.items():
        cells: list[Cell | None] = []
        for name in names:
            result = row.get(name)
            cells.append(None if result is None else Cell(result.verdict, result.seconds, f"d{len(details)}"))
            if result is not None:
                details.append(result)
        tests.append((test, cells))
    yield _head(report, {"schedulers": names, "tests": tests})
    for number, result in enumerate(details):
        ask = replay(result, shown(Path(result.artifacts)))
        detail = Detail(_public(result), tell(result), rerun(result), ask, _files(result, home))
        yield f'<script type="application/octet-stream" id="d{number}">{_packed(detail)}</script>\n'
    yield _END


def _head(report: Report, found: dict[str, Any]) -> str:
    style = _asset("page.css")
    script = f'"use strict";\n(() => {{\n{_scripts()}\n}})();\n'
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    index = {
        **found,
        "mode": report.mode,
        "seconds": report.seconds,
        "shards": report.shards,
        "flakes": report.flakes,
    }
    counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(report.verdicts.items()))
    return Template(_asset("page.html")).substitute(
        policy=html.escape(policy, quote=True),
        title=html.escape(f"schedlab: {counts or 'no results'}"),
        summary=html.escape(f"{counts or 'no results'}."),
        style=style,
        script=script,
        index=embedded(index),
    )


def embedded(data: Any) -> str:  # noqa: ANN401 - anything that is JSON
    """Data as JSON that can stand in a script element: no `<` ends it, and no line separator breaks it."""
    text = msgspec.json.encode(data).decode()
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _packed(detail: Detail) -> str:
    return base64.b64encode(zlib.compress(msgspec.json.encode(detail), 6)).decode()


def _public(result: Result) -> Result:
    """A result without where its files lay on the machine that ran it."""
    return msgspec.structs.replace(result, artifacts="")


def _files(result: Result, home: Path) -> str:
    """Where a test's files are, from the page's place if they are below it."""
    place = Path(result.artifacts).resolve()
    return str(place.relative_to(home)) if result.artifacts and place.is_relative_to(home) else ""


def _scripts() -> str:
    """The script: the numbered parts in their order."""
    folder = resources.files("schedlab.report").joinpath("assets")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".js"))
    return "\n".join(_asset(name) for name in names)


def _asset(name: str) -> str:
    return resources.files("schedlab.report").joinpath("assets", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """A source expression of the policy: what the element's text hashes to."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"

"""The page carries all that it needs, allows nothing else, and has no name in it that could end its data."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import zlib
from html.parser import HTMLParser
from pathlib import Path

import pytest

from schedlab.report import page
from schedlab.report.document import document
from schedlab.report.story import Guest, Story
from schedlab.runner.result import Failure, Result

HOSTILE = "</script><script>alert(1)</script><!--\u2028 $style {{x}} & \" '"


class Elements(HTMLParser):
    """The elements of a page with their attributes and the text of the raw ones."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        self.found.append((f"/{tag}", {}))

    def handle_data(self, data: str) -> None:
        tag, attributes = self.found[-1] if self.found else ("", {})
        if tag in ("script", "style", "title"):
            self.texts.setdefault(attributes.get("id") or tag, []).append(data)


@pytest.fixture
def elements(tmp_path: Path) -> Elements:
    failure = Failure(message=HOSTILE, step=HOSTILE, expected=HOSTILE, seen=HOSTILE)
    result = Result(
        test=HOSTILE,
        path=HOSTILE,
        scheduler=HOSTILE,
        verdict="fail",
        failure=failure,
        artifacts=str(tmp_path / "a"),
    )
    story = Story(guests=(Guest(HOSTILE, 0.0, job=HOSTILE),))
    file = page.write(
        document([result], mode="test", seconds=1), lambda _result: story, tmp_path / "report.html"
    )
    parsed = Elements()
    parsed.feed(file.read_text())
    return parsed


def test_a_hostile_name_is_no_markup(elements: Elements) -> None:
    """The elements are the page's own; the data come back as they were."""
    assert [tag for tag, _ in elements.found].count("script") == 3
    index = json.loads("".join(elements.texts["index"]))
    assert index["tests"][0][0] == HOSTILE
    assert index["schedulers"] == [HOSTILE]
    detail = json.loads(zlib.decompress(base64.b64decode("".join(elements.texts["d0"]))))
    assert detail["result"]["failure"]["seen"] == HOSTILE
    assert detail["story"]["guests"][0]["name"] == HOSTILE


def test_the_data_in_the_page_cannot_end_their_element() -> None:
    """Nor break a line of it."""
    text = page.embedded({"x": "</script>&<!--\u2028\u2029"})
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == {"x": "</script>&<!--\u2028\u2029"}


def test_the_policy_allows_the_pages_own_style_and_script_only(elements: Elements) -> None:
    """By hash; nothing is loaded, nothing is sent."""
    policy = next(
        html.unescape(attributes["content"] or "")
        for tag, attributes in elements.found
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )

    def hashed(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    script, style = ("".join(elements.texts[name]) for name in ("script", "style"))
    assert policy == (
        f"default-src 'none'; style-src {hashed(style)}; script-src {hashed(script)}; "
        "base-uri 'none'; form-action 'none'"
    )


def test_nothing_refers_to_anything_outside(elements: Elements) -> None:
    """No address, no attribute that runs or styles."""
    for tag, attributes in elements.found:
        assert not {"src", "style", "onclick", "onload"} & set(attributes), (tag, attributes)
        assert tag.strip("/") not in ("link", "img", "iframe", "base", "object")
    script = "".join(elements.texts["script"])
    assert re.findall(r"https?://[^\"']+", script) == ["http://www.w3.org/2000/svg"]
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "fetch(",
        "XMLHttp",
    ):
        assert word not in script


def test_files_are_named_from_the_pages_own_place(elements: Elements, tmp_path: Path) -> None:
    """Not by where the run lay on its machine."""
    detail = json.loads(zlib.decompress(base64.b64decode("".join(elements.texts["d0"]))))
    assert detail["files"] == "a"
    assert str(tmp_path) not in json.dumps(detail)


def test_the_parts_of_the_page_are_small_and_ship_with_the_package() -> None:
    """At most 600 lines of script; the wheel takes whatever lies in the package."""
    folder = Path(page.__file__).parent / "assets"
    scripts = sorted(folder.glob("*.js"))
    assert [script.name[:2] for script in scripts] == [f"{number}-" for number in range(1, len(scripts) + 1)]
    assert sum(len(script.read_text().splitlines()) for script in scripts) <= 600
    assert max(len(line) for script in scripts for line in script.read_text().splitlines()) <= 120


def test_a_page_that_is_reached_by_a_link_finds_its_files(tmp_path: Path) -> None:
    """`artifacts/latest` is one."""
    (tmp_path / "run").mkdir()
    (tmp_path / "latest").symlink_to("run")
    result = Result(
        test="a/t", path="p", scheduler="s", verdict="pass", artifacts=str(tmp_path / "run/s/a/t")
    )
    report = document([result], mode="test", seconds=1)
    parsed = Elements()
    parsed.feed(page.write(report, lambda _result: Story(), tmp_path / "latest/report.html").read_text())
    detail = json.loads(zlib.decompress(base64.b64decode("".join(parsed.texts["d0"]))))
    assert (detail["files"], detail["replay"]) == ("s/a/t", "")

"""The page in a real browser: names stay text, thousands of tests are shown at once, keys are enough."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
import report_pages as pages
from browser import ENTER, RIGHT, TAB, Browser, missing

REQUIRED = bool(os.environ.get("SCHEDLAB_REQUIRE_BROWSER"))
pytestmark = [
    pytest.mark.timeout(180),
    pytest.mark.skipif(
        bool(missing()) and not REQUIRED,
        reason=f"not installed: {', '.join(missing())} (see docs/report.md)",
    ),
]
ADDED = "return document.querySelectorAll('script, img, iframe, object, link[rel=stylesheet]').length"
NAMES = "return [...document.querySelectorAll('.row > :first-child')].map((one) => one.textContent)"
ROWS = "return document.querySelectorAll('.row').length"
TICK = """
const labels = [...document.querySelectorAll('#filters label')];
labels.find((one) => one.textContent.includes(arguments[0])).click();
"""
SIDES = "return document.querySelectorAll('.side').length"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pages.hostile(tmp_path_factory.mktemp("hostile") / "report.html")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    results = [
        pages.result("gpu/one", "kube-scheduler"),
        pages.result("gpu/one", "kubesched", "fail"),
        pages.result("gpu/two", "kube-scheduler"),
        pages.result("gpu/two", "kubesched"),
        pages.result("spread/three", "kubesched", "flaky"),
    ]
    return pages.written(results, {}, tmp_path_factory.mktemp("plain") / "report.html")


def address(test: str) -> str:
    return "#test=" + quote(test, safe="")


@pytest.mark.parametrize("number", range(len(pages.NAMES)))
def test_a_hostile_name_is_text(browser: Browser, hostile: Path, number: int) -> None:
    """In the list, in every part of a test's detail, in attributes: nothing runs, all is shown."""
    name = pages.NAMES[number]
    test = f"area {number}{name}/{name}"
    browser.open(hostile, address(test))
    assert browser.until(SIDES) == 2
    browser.run("for (const one of document.querySelectorAll('details')) one.open = true")
    browser.until("return document.querySelectorAll('#detail details table').length >= 6")
    assert browser.run("return window.hacked") is None
    scripts = browser.run("return document.querySelectorAll('script').length")
    assert browser.run(ADDED) == scripts == 2 + 2 * len(pages.NAMES), "the page's own, and no other element"
    assert browser.run("return document.querySelector('h2').textContent") == test
    shown = browser.run("return document.querySelector('#detail').textContent")
    for text in (
        f"{name} bound",
        f"{name} pending",
        f"note about {name}",
        f"0/2 nodes: {name}",
        f"ns/{name}",
    ):
        assert text in shown
    assert any(row.startswith(test.split("/", 1)[1]) for row in browser.run(NAMES))
    assert [one for one in browser.complaints() if "favicon" not in one] == []


def test_a_name_that_runs_backwards_does_not_turn_its_neighbours(browser: Browser, hostile: Path) -> None:
    """The verdict stays to the right of the name: each name is isolated."""
    name = next(name for name in pages.NAMES if "\u202e" in name)
    number = pages.NAMES.index(name)
    browser.open(hostile, address(f"area {number}{name}/{name}"))
    browser.until(SIDES)
    loose = browser.run(
        "return [...document.querySelectorAll('#detail *')].filter((one) => one.childElementCount === 0"
        " && one.textContent.includes('\\u202e') && !one.closest('bdi, title, select, svg'))"
        ".map((one) => one.tagName)"
    )
    assert set(loose) <= {"TD", "CODE", "TH"}, "alone in their cells"


def test_nothing_is_asked_of_a_network(browser: Browser, plain: Path) -> None:
    """One file is all; the policy would forbid more."""
    browser.requests()
    browser.open(plain, address("gpu/one"))
    browser.until(SIDES)
    assert {url for url in browser.requests() if not url.startswith("about:")} == {plain.as_uri()}


def test_the_policy_stops_a_script_that_is_not_the_pages_own(browser: Browser, plain: Path) -> None:
    """Even if a name ever became markup."""
    browser.open(plain)
    browser.run(
        "const own = document.createElement('script'); own.textContent = 'window.hacked = 1';"
        "document.body.append(own)"
    )
    browser.run("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.hacked = 2\">')")
    browser.run("document.body.insertAdjacentHTML('beforeend', '<p id=styled style=\"position:fixed\">')")
    assert browser.run("return getComputedStyle(document.getElementById('styled')).position") == "static"
    assert browser.run("return window.hacked") is None
    assert any("Content Security Policy" in one for one in browser.complaints())


def test_thousands_of_tests_are_shown_at_once(browser: Browser, tmp_path: Path) -> None:
    """2,000 tests on two schedulers: rows are made when they are looked at, details when they are opened."""
    file = pages.large(tmp_path / "report.html")
    assert file.stat().st_size < 16_000_000
    browser.open(file)
    first = browser.run("return performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0")
    loaded = browser.run("return performance.getEntriesByType('navigation')[0].loadEventEnd")
    megabytes = file.stat().st_size / 1e6
    print(f"2,000 tests x 2: {megabytes:.1f} MB, first paint {first:.0f} ms, loaded {loaded:.0f} ms")
    assert first < 5000
    assert browser.run("return document.querySelectorAll('.area').length") == 20
    assert browser.run(ROWS) == 0
    browser.run("document.querySelector('.area').open = true")
    assert browser.until(ROWS) == 100
    for verdict in ("pass", "flaky", "inconclusive"):
        browser.run(TICK, verdict)
    assert browser.until(ROWS) == 40, "few are shown unfolded"


def test_a_long_area_is_shown_piece_by_piece(browser: Browser, tmp_path: Path) -> None:
    """A page of a thousand rows helps nobody."""
    file = pages.written(
        [pages.result(f"a/{number:04}", "s") for number in range(450)], {}, tmp_path / "r.html"
    )
    browser.open(file)
    browser.run("document.querySelector('.area').open = true")
    assert browser.until(ROWS) == 200
    for expected in (400, 450):
        browser.run("document.querySelector('.more').click()")
        assert browser.run(ROWS) == expected
    assert browser.run("return document.querySelector('.more')") is None


def test_filters_narrow_the_list(browser: Browser, plain: Path) -> None:
    """By name, by verdict, by whether the schedulers differ."""
    browser.open(plain)
    assert browser.until(NAMES) == ["one", "two", "three"]
    browser.press("/THREE")
    assert browser.run(NAMES) == ["three"], "the slash leads to the filter"
    browser.open(plain)
    browser.run(TICK, "differ")
    assert browser.until(NAMES) == ["one"]
    browser.run(TICK, "differ")
    browser.run(TICK, "pass")
    assert browser.run(NAMES) == ["one", "three"]
    browser.press("/nothing")
    assert "No test matches." in browser.run("return document.querySelector('#list').textContent")


def test_the_keyboard_is_enough(browser: Browser, plain: Path) -> None:
    """Tab reaches a test, Enter opens it, arrows move the slider."""
    browser.open(plain)
    browser.until(ROWS)
    for _ in range(20):
        browser.press(TAB)
        if browser.run("return document.activeElement.classList.contains('row')"):
            break
    browser.press(ENTER)
    assert browser.until(SIDES) == 2
    assert browser.run("return document.activeElement.id") == "detail"
    for _ in range(20):
        browser.press(TAB)
        if browser.run("return document.activeElement.type === 'range'"):
            break
    before = browser.run("return document.activeElement.value")
    browser.press(RIGHT)
    assert float(browser.run("return document.activeElement.value")) > float(before)


def test_racks_show_who_is_where_at_any_moment(browser: Browser, plain: Path) -> None:
    """The placements at the end, and at the moment that the slider is moved to."""
    taken = "return [...document.querySelectorAll('.side')][0].querySelectorAll('.slot.job').length"
    move = (
        "const slider = document.querySelector('input[type=range]'); slider.value = arguments[0];"
        "slider.dispatchEvent(new Event('input'))"
    )
    browser.open(plain, address("gpu/two"))
    browser.until(SIDES)
    assert (
        browser.run("return [...document.querySelectorAll('.side')][0].querySelectorAll('.rack').length") == 2
    )
    assert browser.run(taken) == 3, "the victim is gone"
    assert (
        browser.run("return document.querySelectorAll('.side')[0].querySelectorAll('.slot.broken').length")
        == 1
    )
    text = browser.run("return document.querySelector('.side').textContent")
    assert "waiting: waits" in text
    assert "cordoned" in text
    browser.run(move, 1.5)
    assert browser.run(taken) == 5
    assert "cordoned" not in browser.run("return document.querySelector('.racks').textContent")
    browser.run(move, 0)
    assert browser.run(taken) == 0


def test_the_map_shows_scores_and_refusals(browser: Browser, plain: Path) -> None:
    """By node and plugin; the choice is among all decisions that are known."""
    browser.open(plain, address("gpu/two"))
    browser.until(SIDES)
    cells = browser.run(
        "return [...document.querySelector('.heat tbody').rows]"
        ".map((row) => [...row.cells].map((one) => one.textContent))"
    )
    assert cells == [
        ["m-0", "90", "300", "390", "✓ best"],
        ["m-1", "✕", "", "", "Insufficient nvidia.com/gpu"],
    ]
    browser.run(
        "const choice = document.querySelector('select'); choice.value = 1;"
        "choice.dispatchEvent(new Event('change'))"
    )
    assert "3 nodes more" in browser.run("return document.querySelector('.side').textContent")


def test_the_button_switches_between_light_and_dark(browser: Browser, plain: Path) -> None:
    """Whatever the system prefers."""
    colour = "return getComputedStyle(document.body).backgroundColor"
    browser.open(plain)
    seen = [browser.run(colour)]
    for _ in range(2):
        browser.run("document.getElementById('theme').click()")
        seen.append(browser.run(colour))
    assert seen[0] == seen[2] != seen[1]


@pytest.mark.parametrize("width", [500, 1000, 1600], ids=["narrow", "middle", "wide"])
def test_nothing_is_cut_off_at_any_width(browser: Browser, hostile: Path, width: int) -> None:
    """The page never scrolls sideways; its wide parts do that by themselves."""
    browser.size(width, 900)
    name = pages.NAMES[11]
    for fragment in ("", address(f"area 11{name}/{name}")):
        browser.open(hostile, fragment)
        browser.until(SIDES if fragment else ROWS)
        wide, room = browser.run("return [document.documentElement.scrollWidth, innerWidth]")
        assert wide <= room

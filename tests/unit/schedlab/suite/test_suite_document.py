"""YAML files are read strictly, and everything in them knows its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.suite import document
from schedlab.suite.document import parse
from schedlab.suite.positions import LoadError

FILE = Path("/x/test.yaml")


def problems(text: str) -> list[str]:
    with pytest.raises(LoadError) as failure:
        parse(text.encode(), FILE)
    return [str(problem) for problem in failure.value.problems]


def test_positions_count_from_one() -> None:
    """As editors do."""
    doc = parse(b"a:\n  b:\n  - x\n  - {c: 1}\n", FILE)[0]
    assert str(doc.position(("a", "b", 1, "c"))) == "/x/test.yaml:4:9"


def test_the_nearest_ancestor_stands_for_what_is_not_in_the_text() -> None:
    """A path into the void still has a line."""
    doc = parse(b"a:\n  b: 1\n", FILE)[0]
    assert doc.position(("a", "z", 3)).line == 2


def test_duplicate_keys_are_refused() -> None:
    """YAML would take the last one without a word."""
    assert problems("a: 1\nb: 2\na: 3\n") == ["/x/test.yaml:3:1: 'a' is given twice (first on line 1)"]


def test_keys_that_are_no_text_are_refused() -> None:
    """`on` is a truth value to YAML."""
    assert problems("on: 1\n") == ["/x/test.yaml:1:1: on is not text, and keys are (put it in quotes)"]
    assert problems("{[a]: 1}\n") == [
        "/x/test.yaml:1:2: this key is not text, and keys are (put it in quotes)"
    ]


def test_all_broken_keys_are_told_at_once() -> None:
    """Not one per run."""
    assert len(problems("a: 1\na: 2\n1: x\n")) == 2


def test_a_syntax_error_has_its_line() -> None:
    """And the parser's own words."""
    assert problems("a: 1\nb: [1, 2\nc: 3\n")[0].startswith("/x/test.yaml:3:")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12:30", "12:30"),
        ("2026-01-01", "2026-01-01"),
        ("1e3", "1e3"),
        ("0x10", 16),
        ("1.5", 1.5),
        ("-3", -3),
    ],
    ids=[
        "no base 60",
        "no dates",
        "no exponents without a dot",
        "hexadecimal",
        "a number",
        "a negative number",
    ],
)
def test_plain_values_are_read_as_kubectl_reads_them(text: str, value: object) -> None:
    """Surprises of YAML 1.1 are off."""
    assert parse(f"a: {text}".encode(), FILE)[0].data == {"a": value}


def test_merge_keys_work_and_do_not_count_as_duplicates() -> None:
    """Aliases and merges are part of YAML that people use."""
    doc = parse(b"a: &x {n: 1, m: 2}\nb:\n  <<: *x\n  n: 3\n", FILE)[0]
    assert doc.data["b"] == {"n": 3, "m": 2}


def test_a_file_cannot_grow_without_bound() -> None:
    """Nine aliases of nine aliases of … would fill the machine."""
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{new}: &{new} [{','.join([f'*{old}'] * 9)}]\n"
        for old, new in zip("abcdefgh", "bcdefghi", strict=True)
    )
    assert "more than 100000 parts" in problems(bomb)[0]


def test_a_file_may_not_be_huge() -> None:
    """Nobody writes a test of a mebibyte."""
    assert "the limit is" in problems("a: " + "x" * document.MAX_BYTES)[0]


def test_several_documents_come_apart_and_empty_ones_do_not_count() -> None:
    """A manifest may hold many objects."""
    assert [doc.data for doc in parse(b"---\na: 1\n---\n---\nb: 2\n", FILE)] == [{"a": 1}, {"b": 2}]


def test_a_missing_file_is_a_problem_of_that_file(tmp_path: Path) -> None:
    """Like any other."""
    with pytest.raises(LoadError, match="No such file"):
        document.read(tmp_path / "none.yaml")


def test_bytes_that_are_no_text_are_refused() -> None:
    """With a sentence, not a traceback."""
    with pytest.raises(LoadError, match="not UTF-8"):
        parse(b"a: \xff\xfe", FILE)

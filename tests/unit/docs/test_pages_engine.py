"""The pages' own machinery notices what differs."""

from __future__ import annotations

import os

import pytest
from tests.pages import follow, matches


def page(tmp_path, text: str):
    path = tmp_path / "page.md"
    path.write_text(text)
    return path


def followed(tmp_path, text: str, **options):
    where = tmp_path / "empty"
    where.mkdir()
    follow(page(tmp_path, text), where, {"PATH": os.environ["PATH"]}, **options)
    return where


def test_files_are_written_and_commands_share_a_shell(tmp_path):
    where = followed(
        tmp_path,
        "```yaml title=a/b.yaml\nx: '$y'\n```\n\ntext\n\n"
        "```console\n$ cd a\n$ cat b.yaml\nx: '$y'\n$ printf 'one\\n' \\\n    | cat\none\n```\n",
    )
    assert (where / "a/b.yaml").read_text() == "x: '$y'\n"


@pytest.mark.parametrize(
    ("block", "text"),
    [
        pytest.param(
            "$ echo one\ntwo",
            r"page.md:2: \$ echo one\nthe page shows\ntwo\nbut it printed\none",
            id="output",
        ),
        pytest.param("$ echo fine\n$ (exit 3)", "page.md:3: .*\nended with exit code 3", id="exit code"),
        pytest.param("$ echo fine\n$ exit 0\n$ echo more", "the shell ended early", id="a shell that ends"),
    ],
)
def test_a_difference_is_told_with_its_line(tmp_path, block, text):
    with pytest.raises(AssertionError, match=text):
        followed(tmp_path, f"```console\n{block}\n```\n")


def test_a_command_can_be_added_after_one(tmp_path):
    where = followed(tmp_path, "```console\n$ true\n$ ls\n```\n", after={"true": "touch added"})
    assert (where / "added").exists()


@pytest.mark.parametrize(
    ("shown", "got", "expected"),
    [
        pytest.param("", "anything", True, id="a page may show nothing"),
        pytest.param("a\n…\nd", "a\nb\nc\nd", True, id="lines left out"),
        pytest.param("a\n…\nd", "a\nd", True, id="no line left out"),
        pytest.param("5 passed in …s", "5 passed in 0.3s", True, id="text left out"),
        pytest.param("5 passed in …s", "6 passed in 0.3s", False, id="other text"),
        pytest.param("a", "a\nb", False, id="a line too much"),
        pytest.param("a.c", "abc", False, id="a dot is a dot"),
    ],
)
def test_matching(shown, got, expected):
    assert matches(shown, got) is expected

"""Lines from chunks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.client import lines
from kubesched.client.lines import LineSplitter, LineTooLongError


@given(st.lists(st.binary(max_size=8).map(lambda b: b.replace(b"\n", b"x")), max_size=8), st.data())
def test_lines_are_the_same_however_the_stream_is_cut(wanted, data):
    stream = b"".join(line + b"\n" for line in wanted)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    splitter = LineSplitter()
    got = []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        got += splitter.feed(stream[start:end])
    assert got == [line for line in wanted if line.strip()]
    assert not splitter.torn


def test_what_follows_the_last_newline_is_torn():
    splitter = LineSplitter()
    assert splitter.feed(b'{"a":1}\n{"b"') == [b'{"a":1}']
    assert splitter.torn


def test_an_endless_line_is_refused(monkeypatch):
    monkeypatch.setattr(lines, "_LONGEST", 100)
    splitter = LineSplitter()
    splitter.feed(b"x" * 100)
    with pytest.raises(LineTooLongError):
        splitter.feed(b"x")

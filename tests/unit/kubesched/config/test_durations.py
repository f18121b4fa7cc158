"""Go's durations, read and written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.config import durations


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0.0),
        ("5s", 5.0),
        ("1m30s", 90.0),
        ("1h", 3600.0),
        ("500ms", 0.5),
        ("1.5h", 5400.0),
        ("-1m", -60.0),
        ("+1s", 1.0),
        ("100us", 0.0001),
        ("1.s", 1.0),
        (".5s", 0.5),
    ],
)
def test_a_duration_is_seconds(text, seconds):
    assert durations.parse(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'time: invalid duration ""'),
        ("5", 'time: missing unit in duration "5"'),
        ("s", 'time: invalid duration "s"'),
        ("5d", 'time: unknown unit "d" in duration "5d"'),
        ("1 s", 'time: invalid duration "1 s"'),
    ],
)
def test_what_is_no_duration_is_refused_in_gos_words(text, message):
    with pytest.raises(ValueError, match="time: ") as caught:
        durations.parse(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (15, "15s"),
        (600, "10m0s"),
        (3600, "1h0m0s"),
        (5400.5, "1h30m0.5s"),
        (0.1, "100ms"),
        (0.0015, "1.5ms"),
        (1e-9, "1ns"),
        (-90, "-1m30s"),
    ],
)
def test_a_duration_is_written_as_go_writes_it(seconds, text):
    assert durations.render(seconds) == text


@given(st.integers(min_value=-(10**15), max_value=10**15))
def test_writing_and_reading_gives_the_same(microseconds):
    seconds = microseconds / 10**6
    assert durations.parse(durations.render(seconds)) == pytest.approx(seconds, abs=1e-6)

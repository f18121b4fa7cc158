"""Durations are read and written as Go and Kubernetes do; polling never misses an answer that is there."""

import pytest

from schedlab import timing
from schedlab.errors import UsageError


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("5s", 5.0),
        ("1m30s", 90.0),
        ("500ms", 0.5),
        ("1.5h", 5400.0),
        ("2h45m", 9900.0),
        ("250us", 0.00025),
        (" 10s ", 10.0),
        ("0", 0.0),
    ],
)
def test_a_duration_is_the_sum_of_its_parts(text, seconds):
    """Every form that Go accepts, up to hours."""
    assert timing.parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "5", "s", "5 s", "-1s", "1d", "5s!", "1m 30s", "five"])
def test_what_is_not_a_duration_is_refused_by_name(text):
    """A bare number has no unit; the message repeats what was given."""
    with pytest.raises(UsageError, match="is not a duration") as caught:
        timing.parse_duration(text)
    assert repr(text) in caught.value.message
    assert "1m30s" in caught.value.hint


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (0.35, "350ms"), (1, "1s"), (4.21, "4.2s"), (59.97, "1m00s"), (90, "1m30s"), (7500, "2h05m")],
)
def test_a_duration_is_written_for_people(seconds, text):
    """Three significant places at most."""
    assert timing.format_duration(seconds) == text


@pytest.fixture
def virtual_time(monkeypatch):
    """A clock that only `sleep` moves."""
    clock = {"now": 100.0}

    async def sleep(seconds):
        clock["now"] += seconds

    monkeypatch.setattr(timing, "monotonic", lambda: clock["now"])
    monkeypatch.setattr(timing, "sleep", sleep)
    return clock


async def test_poll_returns_the_first_answer(virtual_time):
    """Two questions without an answer, then one."""
    answers = iter([None, None, "yes", "later"])

    async def probe():
        return next(answers)

    assert await timing.poll(probe, timing.Deadline.after(10), interval=1) == "yes"
    assert virtual_time["now"] == 102


async def test_poll_asks_once_more_after_the_deadline(virtual_time):
    """A probe that takes longer than the whole time still gets its last chance."""
    asked = []

    async def slow():
        asked.append(virtual_time["now"])
        virtual_time["now"] += 7
        return "late" if len(asked) == 2 else None

    assert await timing.poll(slow, timing.Deadline.after(5), interval=1) == "late"


async def test_poll_gives_up_at_the_deadline(virtual_time):
    """No answer is None, not an exception."""

    async def never():
        return None

    assert await timing.poll(never, timing.Deadline.after(5), interval=1) is None
    assert 105 <= virtual_time["now"] < 106


def test_a_deadline_counts_down_to_nothing(virtual_time):
    """`remaining` is never negative."""
    deadline = timing.Deadline.after(5)
    virtual_time["now"] += 3
    assert (deadline.remaining, deadline.expired) == (2, False)
    virtual_time["now"] += 3
    assert (deadline.remaining, deadline.expired) == (0, True)

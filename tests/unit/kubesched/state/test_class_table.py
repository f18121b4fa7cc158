"""Interning: equal values share a number, numbers are counted and given out again."""

from __future__ import annotations

import pytest

from kubesched.state.classes import ClassTable


def test_equal_values_share_a_number_until_nobody_uses_it() -> None:
    """The number is free for another value only after the last use."""
    table: ClassTable[str] = ClassTable()
    a = table.acquire("a")
    assert table.acquire("a") == a
    assert (table.uses(a), table[a], table.find("a")) == (2, "a", a)
    table.release(a)
    assert table.find("a") == a
    table.release(a)
    assert table.find("a") is None
    assert table.acquire("b") == a
    assert len(table) == 1


def test_a_number_that_means_nothing_is_an_error() -> None:
    """Neither a freed nor an unknown nor a negative number has a value."""
    table: ClassTable[str] = ClassTable()
    table.release(table.acquire("a"))
    for number in (0, 1, -1):
        with pytest.raises(KeyError):
            table[number]


def test_version_grows_when_a_number_changes_its_meaning() -> None:
    """Answers kept per number are good for one version."""
    table: ClassTable[str] = ClassTable()
    a = table.acquire("a")
    version = table.version
    table.acquire("a")
    table.release(a)
    assert table.version == version
    table.release(a)
    freed = table.version
    assert freed > version
    table.acquire("b")
    assert table.version > freed


def test_exchange_takes_the_new_value_before_it_lets_go_of_the_old() -> None:
    """Exchanging a value for itself keeps its number and its version."""
    table: ClassTable[str] = ClassTable()
    a = table.acquire("a")
    version = table.version
    assert table.exchange(a, "a") == a
    assert (table.version, table.uses(a)) == (version, 1)
    assert table[table.exchange(a, "b")] == "b"
    assert table.find("a") is None


def test_a_borrowed_number_lasts_until_the_sweep() -> None:
    """Unless somebody acquired it meanwhile."""
    table: ClassTable[str] = ClassTable()
    loose, kept = table.borrow("loose"), table.borrow("kept")
    assert table.borrow("loose") == loose
    table.acquire("kept")
    table.sweep()
    assert (table.find("loose"), table.find("kept")) == (None, kept)
    table.sweep()
    assert table.uses(kept) == 1


def test_a_borrowed_number_may_be_acquired_and_released() -> None:
    """It is freed once, not twice."""
    table: ClassTable[str] = ClassTable()
    number = table.borrow("a")
    table.acquire("a")
    table.release(number)
    table.sweep()
    first, second = table.acquire("b"), table.acquire("c")
    assert first != second


def test_questions_are_asked_once_per_class() -> None:
    """The answers are indexed by class number; a free number answers no, or nothing."""
    table: ClassTable[str] = ClassTable()
    numbers = [table.acquire(value) for value in ("a", "bb", "ccc")]
    table.release(numbers[1])
    asked: list[str] = []
    answers = table.decide(lambda value: not asked.append(value))
    assert sorted(asked) == ["a", "ccc"]
    assert answers.tolist() == [True, False, True]
    assert table.measure(len).tolist() == [1, 0, 3]

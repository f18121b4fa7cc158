"""Quantities: every notation of the API, exactly."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.api.quantity import INT64_MAX, milli_value, nanos, parse, value

KI, MI, GI, TI, PI, EI = (1024**n for n in range(1, 7))

#: Facts of apimachinery's `resource.TestQuantityParse`, as (text, amount).
NOTATIONS = [
    *((f"0{suffix}", 0) for suffix in ("", "n", "u", "m", "k", "Ki", "M", "Mi", "G", "Gi", "T", "Ti")),
    ("1", 1),
    ("1Ki", KI),
    ("8Ki", 8 * KI),
    ("7Mi", 7 * MI),
    ("6Gi", 6 * GI),
    ("5Ti", 5 * TI),
    ("4Pi", 4 * PI),
    ("3Ei", 3 * EI),
    ("100Ti", 100 * TI),
    ("5n", Fraction(5, 10**9)),
    ("4u", Fraction(4, 10**6)),
    ("3m", Fraction(3, 1000)),
    ("8k", 8 * 10**3),
    ("50k", 5 * 10**4),
    ("7M", 7 * 10**6),
    ("6G", 6 * 10**9),
    ("5T", 5 * 10**12),
    ("300T", 3 * 10**14),
    ("2P", 2 * 10**15),
    ("1E", 10**18),
    ("1E-3", Fraction(1, 1000)),
    ("1e3", 10**3),
    ("1E6", 10**6),
    ("1E18", 10**18),
    ("1e14", 10**14),
    ("100.035k", 100035),
    ("0.0005k", Fraction(1, 2)),
    ("0.00500", Fraction(5, 1000)),
    ("0.5e0", Fraction(1, 2)),
    ("0.5e-2", Fraction(5, 1000)),
    ("10.035M", 10035 * 10**3),
    ("1.3E+6", 13 * 10**5),
    ("1.53E12", 153 * 10**10),
    ("1.7E18", 17 * 10**17),
    ("9.01", Fraction(901, 100)),
    ("6.987654321G", 6987654321),
    ("1.01E", 101 * 10**16),
    ("12E", 12 * 10**18),
    ("100.035Ki", Fraction(10243584, 100)),
    ("0.5Mi", MI // 2),
    ("0.05Gi", Fraction(536870912, 10)),
    ("0.025Ti", Fraction(274877906944, 10)),
    (".001", Fraction(1, 1000)),
    (".0001k", Fraction(1, 10)),
    ("1.", 1),
    ("1.G", 10**9),
]

#: What is finer than a nano-unit is rounded away from zero; binary notations end at the largest int64.
SATURATED = [
    ("3.001n", Fraction(4, 10**9)),
    ("1.1E-9", Fraction(2, 10**9)),
    ("0.0000000001", Fraction(1, 10**9)),
    ("0.0000000005", Fraction(1, 10**9)),
    ("0.5e-9", Fraction(1, 10**9)),
    ("0.9n", Fraction(1, 10**9)),
    ("0.00000012345", Fraction(124, 10**9)),
    ("0.00000012354", Fraction(124, 10**9)),
    ("0.000000000001Ki", Fraction(2, 10**9)),
    ("9Ei", INT64_MAX),
    ("9223372036854775807Ki", INT64_MAX),
]


@pytest.mark.parametrize(
    ("text", "amount"), [pytest.param(*case, id=case[0]) for case in NOTATIONS + SATURATED]
)
def test_every_notation_is_read_exactly(text: str, amount: Fraction | int) -> None:
    """Either sign before it changes only the sign."""
    assert parse(text) == amount
    assert parse(f"+{text}") == amount
    assert parse(f"-{text}") == -amount


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1.1.M",
        "1+1.0M",
        "0.1mi",
        "0.1am",
        "aoeu",
        ".5i",
        "1i",
        "-3.01i",
        "-3.01e-",
        " 1",
        "1 ",
        "1e",
        "1Ei3",
        "k",
    ],
)
def test_anything_else_is_refused_by_name(text: str) -> None:
    """The error shows the text and what to write."""
    with pytest.raises(ValueError, match="is not a quantity") as refused:
        parse(text)
    assert repr(text) in str(refused.value)


@pytest.mark.parametrize(
    ("text", "units", "millis"),
    [
        pytest.param("100m", 1, 100, id="a tenth is one unit"),
        pytest.param("1.0001", 2, 1001, id="any remainder counts up"),
        pytest.param("1u", 1, 1, id="the least amount is one of each"),
        pytest.param("-1.5", -2, -1500, id="negative amounts round away from zero"),
        pytest.param("0", 0, 0, id="nothing stays nothing"),
        pytest.param("9Ei", INT64_MAX, INT64_MAX, id="amounts end at int64"),
        pytest.param("1e400", INT64_MAX, INT64_MAX, id="an absurd exponent ends at int64"),
        pytest.param("1e-400", 1, 1, id="an absurdly small amount is the least one"),
    ],
)
def test_values_round_up_once(text: str, units: int, millis: int) -> None:
    """`value` and `milli_value` agree with upstream's Value and MilliValue."""
    assert (value(text), milli_value(text)) == (units, millis)


def test_numbers_from_yaml_are_quantities_too() -> None:
    """A hand-written manifest says `cpu: 0.5` without quotes."""
    assert (milli_value(0.5), value(3), milli_value(1e-3)) == (500, 3, 1)


def test_fractions_are_rounded_like_texts() -> None:
    """A sum of exact amounts is rounded once, at the end."""
    assert milli_value(parse("0.4m") + parse("0.4m") + parse("0.2m")) == 1


@given(st.integers(-(10**12), 10**12), st.sampled_from(["n", "u", "m", "", "k", "Ki", "M", "Mi"]))
def test_sums_of_nanos_are_exact(number: int, suffix: str) -> None:
    """Adding nano-units loses nothing, whatever the notation."""
    text = f"{number}{suffix}"
    assert nanos(text) * 3 == (parse(text) * 3) * 10**9

"""Quantities in messages read as the API server would print them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.kubelet.quantities import Form, Quantity, parse


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("1024Mi", "1Gi"),
        ("1536Mi", "1536Mi"),
        ("1.5Gi", "1536Mi"),
        ("1000Mi", "1000Mi"),
        ("1000", "1k"),
        ("5000k", "5M"),
        ("1234", "1234"),
        ("0", "0"),
        ("12e6", "12e6"),
        ("1E", "1E"),
        ("2Ei", "2Ei"),
        ("1023Ki", "1023Ki"),
    ],
)
def test_a_quantity_is_printed_in_its_canonical_form(written, printed):
    """The largest unit that leaves a whole number, in the form that was written."""
    assert str(parse(written)) == printed


@pytest.mark.parametrize(("value", "printed"), [(1000, "1k"), (1023, "1023"), (1024, "1Ki"), (0, "0")])
def test_small_bytes_are_printed_in_decimal(value, printed):
    """Below 1,024 the binary form has no unit of its own."""
    assert str(Quantity(value, Form.BINARY)) == printed


@given(st.integers(0, 1 << 62), st.sampled_from(Form))
def test_what_is_printed_reads_as_the_same_number(value, form):
    """Printing loses nothing."""
    assert parse(str(Quantity(value, form))).value == value


@pytest.mark.parametrize("text", ["", "1Gb", "10..5", "five", "1 Gi"])
def test_what_is_no_quantity_is_refused(text):
    """Nothing is guessed."""
    with pytest.raises(ValueError, match="is not a quantity"):
        parse(text)

"""Quantities as the API writes them: a number, and the form in which it is printed.

A kubelet's messages print quantities in their canonical form (apimachinery, pkg/api/resource/quantity.go), so
`1024Mi` reads `1Gi` and `5000` reads `5k`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from schedlab.judge.values import quantity

_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL = ("", "k", "M", "G", "T", "P", "E")


class Form(Enum):
    """How a quantity is printed; it keeps the form in which it was written."""

    BINARY = 1024
    DECIMAL = 1000
    EXPONENT = 10


@dataclass(frozen=True, slots=True)
class Quantity:
    """A whole number of bytes, inodes or processes."""

    value: int
    form: Form = Form.BINARY

    def __str__(self) -> str:
        """The canonical form: the largest unit that leaves a whole number; below 1,024 without a unit."""
        if self.form is Form.BINARY and abs(self.value) >= 1024:
            number, power = _reduced(self.value, 1024)
            return f"{number}{_BINARY[power]}"
        number, power = _reduced(self.value, 1000)
        if self.form is Form.EXPONENT:
            return f"{number}e{3 * power}" if power else str(number)
        return f"{number}{_DECIMAL[power]}"


def parse(text: str) -> Quantity:
    """The quantity, rounded up to whole units.

    Raises:
        ValueError: it is not a quantity.
    """
    exact = quantity(text)
    if text.endswith("i"):
        form = Form.BINARY
    else:
        form = Form.EXPONENT if "e" in text or "E" in text[:-1] else Form.DECIMAL
    return Quantity(math.ceil(exact) if exact >= 0 else math.floor(exact), form)


def _reduced(value: int, base: int) -> tuple[int, int]:
    """A number without the factors of `base` in it, and how many those were; at most six."""
    power = 0
    while value and value % base == 0 and power < len(_BINARY) - 1:
        value, power = value // base, power + 1
    return value, power

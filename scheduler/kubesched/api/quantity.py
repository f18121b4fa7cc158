"""Resource quantities, exact in every notation the API allows.

A quantity is held as whole nano-units, the finest the API knows (finer input rounds away from zero while
parsing), so sums and comparisons are integer arithmetic and nothing is rounded before the end. Follows
upstream apimachinery `pkg/api/resource/quantity.go` and `suffix.go`.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

NANO = 10**9
INT64_MAX = 2**63 - 1

_FORM = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?([numkKMGTPE]?i?|[eE][+-]?\d+)", re.ASCII)
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
#: No int64 and no nano-unit is further away than this many digits; longer exponents change nothing.
_FAR = 60


@lru_cache(maxsize=16384)
def nanos(quantity: str | float) -> int:
    """Read a quantity as whole nano-units. ValueError names the text when it is no quantity."""
    text = str(quantity)
    match = _FORM.fullmatch(text)
    if match is None:
        raise _refusal(text)
    sign, whole, fraction, suffix = match.groups(default="")
    digits = whole + fraction
    if not digits:
        raise _refusal(text)
    amount = int(digits)
    if suffix in _BINARY:
        scaled = Fraction(amount << _BINARY[suffix], 10 ** len(fraction))
        result = min(_ceil(scaled * NANO), INT64_MAX * NANO)
    elif suffix in _DECIMAL or suffix[:1] in ("e", "E"):
        exponent = _DECIMAL[suffix] if suffix in _DECIMAL else int(suffix[1:])
        power = max(-_FAR - len(digits), min(_FAR, exponent)) - len(fraction) + 9
        result = amount * 10**power if power >= 0 else -(-amount // 10**-power)
    else:
        raise _refusal(text)
    return -result if sign == "-" else result


def parse(quantity: str | float) -> Fraction:
    """Read a quantity exactly. ValueError names the text when it is no quantity."""
    return Fraction(nanos(quantity), NANO)


def value(quantity: str | float | Fraction) -> int:
    """Give whole units, rounded up (away from zero) once, within int64."""
    return units(_as_nanos(quantity))


def milli_value(quantity: str | float | Fraction) -> int:
    """Give thousandths of a unit, rounded up (away from zero) once, within int64."""
    return millis(_as_nanos(quantity))


def units(amount: int) -> int:
    """Round nano-units up to whole units."""
    return _clamp(_divide(amount, NANO))


def millis(amount: int) -> int:
    """Round nano-units up to thousandths of a unit."""
    return _clamp(_divide(amount, NANO // 1000))


def _as_nanos(quantity: str | float | Fraction) -> int:
    """Bring either form to nano-units."""
    return _ceil(quantity * NANO) if isinstance(quantity, Fraction) else nanos(quantity)


def _ceil(amount: Fraction) -> int:
    """Round away from zero."""
    return _divide(amount.numerator, amount.denominator)


def _divide(amount: int, by: int) -> int:
    """Divide and round away from zero."""
    return -(-amount // by) if amount >= 0 else amount // by


def _clamp(amount: int) -> int:
    """Keep within int64, which is what the columns hold."""
    return max(-INT64_MAX - 1, min(INT64_MAX, amount))


def _refusal(text: str) -> ValueError:
    """Say what a quantity looks like."""
    return ValueError(
        f"{text!r} is not a quantity: write a number, with a suffix if need be (100m, 1.5, 2k, 4Gi, 1e3)"
    )

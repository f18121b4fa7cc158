"""Go's duration notation: "1m30s", "500ms", "0s".

Kubernetes writes durations this way in flags and configuration; inside, they are floats in seconds.
Follows `time.ParseDuration` and `Duration.String`.
"""

from __future__ import annotations

import re
from fractions import Fraction

_NANOSECONDS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_TERM = re.compile(r"(\d+\.?\d*|\.\d+)([a-zµμ]+)")


def parse(text: str) -> float:
    """Seconds in a Go duration. Raises ValueError with Go's words."""
    body = text[1:] if text[:1] in {"+", "-"} else text
    if body == "0":
        return 0.0
    if not body:
        raise ValueError(f'time: invalid duration "{text}"')
    total = Fraction(0)
    position = 0
    while position < len(body):
        term = _TERM.match(body, position)
        if term is None:
            missing = re.fullmatch(r"(\d+\.?\d*|\.\d+)", body[position:])
            what = "missing unit in duration" if missing else "invalid duration"
            raise ValueError(f'time: {what} "{text}"')
        number, unit = term.groups()
        if unit not in _NANOSECONDS:
            raise ValueError(f'time: unknown unit "{unit}" in duration "{text}"')
        total += Fraction(number if not number.endswith(".") else number[:-1]) * _NANOSECONDS[unit]
        position = term.end()
    return float(-total if text.startswith("-") else total) / 10**9


def render(seconds: float) -> str:
    """A duration as Go prints it: 600.0 is "10m0s", 0.1 is "100ms"."""
    nanoseconds = round(seconds * 10**9)
    if nanoseconds == 0:
        return "0s"
    sign, left = ("-", -nanoseconds) if nanoseconds < 0 else ("", nanoseconds)
    for unit, size in (("ns", 1), ("µs", 10**3), ("ms", 10**6)):
        if left < size * 1000:
            return f"{sign}{_decimal(left, size)}{unit}"
    minutes, rest = divmod(left, 60 * 10**9)
    hours, minutes = divmod(minutes, 60)
    text = f"{_decimal(rest, 10**9)}s"
    if hours or minutes:
        text = f"{minutes}m{text}"
    return f"{sign}{hours}h{text}" if hours else f"{sign}{text}"


def _decimal(value: int, size: int) -> str:
    whole, rest = divmod(value, size)
    if not rest:
        return str(whole)
    return f"{whole}.{str(rest).zfill(len(str(size)) - 1).rstrip('0')}"

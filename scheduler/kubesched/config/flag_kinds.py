"""The types of kube-scheduler's flags: their names in the help, and how their text is read.

Errors read as those of Go's strconv, pflag and component-base, since they are what an operator searches for.
"""

from __future__ import annotations

import csv
import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass

from kubesched.config import durations

Value = str | int | float | bool | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kind:
    """A type of flag: its name in the help, and how its text is read (raising ValueError with Go's words)."""

    name: str
    read: Callable[[str], Value]
    bare: str | None = None
    grows: bool = False


_QUANTITY = r"[+-]?[0-9]*\.?[0-9]*([eE][+-]?[0-9]+|[numkMGTPE]|[KMGTPE]i)?"
_SHOWN_QUANTITY = "^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$"


def _boolean(text: str) -> bool:
    if text in {"1", "t", "T", "TRUE", "true", "True"}:
        return True
    if text in {"0", "f", "F", "FALSE", "false", "False"}:
        return False
    raise ValueError(f'strconv.ParseBool: parsing "{text}": invalid syntax')


def _whole(parser: str, lowest: int, highest: int) -> Callable[[str], int]:
    """What reads an integer within bounds, as the named function of Go's strconv."""
    shape = re.compile(r"[+-]?\w+" if lowest < 0 else r"\d+")

    def read(text: str) -> int:
        try:
            number = int(text, 0) if shape.fullmatch(text) else None
        except ValueError:
            number = None
        if number is None:
            raise ValueError(f'strconv.{parser}: parsing "{text}": invalid syntax')
        if not lowest <= number <= highest:
            raise ValueError(f'strconv.{parser}: parsing "{text}": value out of range')
        return number

    return read


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f'strconv.ParseFloat: parsing "{text}": invalid syntax') from None


def _address(text: str) -> str:
    if not text.strip():
        return "0.0.0.0"  # noqa: S104 - as Go does, no address is any
    try:
        return str(ipaddress.ip_address(text.strip()))
    except ValueError:
        raise ValueError(f'failed to parse IP: "{text}"') from None


def _list(text: str) -> tuple[str, ...]:
    """Comma separated values, in which quotes protect commas."""
    return tuple(next(csv.reader([text]), ())) if text else ()


def _numbers(text: str) -> tuple[str, ...]:
    items = tuple(item.strip() for item in text.split(","))
    for item in items:
        _INT32(item)
    return items


def _quantity(text: str) -> str:
    if not re.search(r"[0-9]", text) or not re.fullmatch(_QUANTITY, text):
        raise ValueError(f"quantities must match the regular expression '{_SHOWN_QUANTITY}'")
    return text


def _pairs(text: str) -> tuple[str, ...]:
    """`key=value` pairs; a value with commas stands alone, or else in quotes around the pair."""
    pairs = (text.strip('"'),) if text.count("=") == 1 else _list(text)
    for pair in pairs:
        if "=" not in pair:
            raise ValueError(f"{pair} must be formatted as key=value")
    return pairs


def _patterns(text: str) -> tuple[str, ...]:
    items = tuple(filter(None, text.split(",")))
    for item in items:
        pattern, separator, level = item.partition("=")
        if not separator or not pattern:
            raise ValueError(f'"{item}" does not have the pattern=N format')
        try:
            LEVEL.read(level)
        except ValueError as error:
            raise ValueError(f'parsing verbosity in "{item}": {error}') from error
    return items


def _named_pair(text: str) -> tuple[str, ...]:
    files = text.partition(":")[0].split(",")
    if len(files) != 2 or not all(file.strip() for file in files):
        raise ValueError("expected comma separated certificate and key file paths")
    return (text,)


def _version(text: str) -> str:
    if text == "raw":
        return text
    if text.startswith("v"):
        if re.fullmatch(rf"{re.escape(_REPORTED)}([-+].+)?", text) is None:
            raise ValueError(
                f'version "{text}" must match major/minor/patch of default version "{_REPORTED}"'
            )
        return text
    return "true" if _boolean(text) else "false"


_REPORTED = "v1.36.3"
_INT32 = _whole("ParseInt", -(2**31), 2**31 - 1)

STRING = Kind("string", str)
BOOL = Kind("", _boolean, bare="true")
INT = Kind("int", _whole("ParseInt", -(2**63), 2**63 - 1))
INT32 = Kind("int32", _INT32)
INT32S = Kind("int32Slice", _numbers, grows=True)
LEVEL = Kind("Level", _whole("ParseUint", 0, 2**31 - 1))
FLOAT = Kind("float32", _number)
DURATION = Kind("duration", durations.parse)
IP = Kind("ip", _address)
QUANTITY = Kind("quantity", _quantity)
STRINGS = Kind("strings", _list, grows=True)
PAIRS = Kind("stringToString", _pairs, grows=True)
PATTERNS = Kind("pattern=N,...", _patterns)
NAMED_PAIRS = Kind("namedCertKey", _named_pair, grows=True)
GATES = Kind("colonSeparatedMultimapStringString", lambda text: (text,), grows=True)
VERSION = Kind("version[=true]", _version, bare="true")

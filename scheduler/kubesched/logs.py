"""Log lines as Kubernetes components write them: klog's text or JSON, structured, with `-v` levels.

`-v` levels are the standard library's levels below INFO: level v is 20 - v, so anything that logs through
`logging` is filtered and formatted the same way. Values are single facts (names, counts, texts), never whole
objects, headers or environments: what tenants write must not flood or forge the log. Follows `klog/v2` and
`component-base/logs`.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from datetime import UTC, datetime
from typing import TextIO

_VALUES = "kv"
_VERBOSITY_FIELD = "v"


class Log:
    """A logger for one module: messages with values, filtered by verbosity."""

    __slots__ = ("_logger",)

    def __init__(self, name: str) -> None:
        self._logger = logging.getLogger(name)

    def enabled(self, v: int) -> bool:
        """Whether lines of this verbosity are written; ask before working one out."""
        return self._logger.isEnabledFor(logging.INFO - v)

    def info(self, message: str, /, *, v: int = 0, **values: object) -> None:
        """Write a line if `-v` is at least `v`."""
        if self._logger.isEnabledFor(logging.INFO - v):
            self._logger.log(logging.INFO - v, message, extra={_VALUES: values}, stacklevel=2)

    def warning(self, message: str, /, **values: object) -> None:
        """Write a line about something an operator should look at."""
        self._logger.warning(message, extra={_VALUES: values}, stacklevel=2)

    def error(self, message: str, error: BaseException | str | None = None, /, **values: object) -> None:
        """Write a line about something that failed. `error` becomes the value `err`."""
        if error is not None:
            values = {"err": str(error) or type(error).__name__, **values}
        self._logger.error(message, extra={_VALUES: values}, stacklevel=2)


def get(name: str) -> Log:
    """The logger of a module: pass `__name__`."""
    return Log(name)


def configure(
    verbosity: int = 0, style: str = "text", vmodule: str = "", stream: TextIO | None = None
) -> None:
    """Send all logging to a stream in one style, `text` or `json`.

    `vmodule` is klog's `pattern=N,...`: modules whose name matches get another verbosity. Raises ValueError.
    """
    if style not in {"text", "json"}:
        raise ValueError(f'unsupported log format: "{style}"')
    handler = logging.StreamHandler(stream or (sys.stderr if style == "text" else sys.stdout))
    handler.setFormatter(JsonFormatter() if style == "json" else TextFormatter())
    root = logging.getLogger()
    for old in list(root.handlers):
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    logging.getLogger("kubesched").setLevel(logging.INFO - verbosity)
    for part in filter(None, vmodule.split(",")):
        pattern, separator, level = part.partition("=")
        if not separator or not level.isdigit():
            raise ValueError(f"syntax error: expect comma-separated list of filename=N, got {part!r}")
        logging.getLogger(f"kubesched.{pattern}").setLevel(logging.INFO - int(level))


class TextFormatter(logging.Formatter):
    """klog's header, the quoted message, then key="value" pairs."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, whatever is in the message."""
        moment = datetime.fromtimestamp(record.created, UTC)
        header = (
            f"{_letter(record)}{moment:%m%d %H:%M:%S.%f} {os.getpid():7d} {record.filename}:{record.lineno}]"
        )
        pairs = "".join(f" {key}={_quote(value)}" for key, value in _values(record).items())
        trace = f"\n{self.formatException(record.exc_info)}" if record.exc_info else ""
        return f"{header} {json.dumps(record.getMessage(), ensure_ascii=False)}{pairs}{trace}"


class JsonFormatter(logging.Formatter):
    """One JSON object per line, as `component-base/logs/json` writes it: ts in milliseconds."""

    def format(self, record: logging.LogRecord) -> str:
        """One line of JSON."""
        line: dict[str, object] = {
            "ts": round(record.created * 1000, 3),
            "caller": f"{record.filename}:{record.lineno}",
            "msg": record.getMessage(),
        }
        if record.levelno <= logging.INFO:
            line[_VERBOSITY_FIELD] = logging.INFO - record.levelno
        line |= _values(record)
        if record.exc_info:
            line["stacktrace"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)


def _letter(record: logging.LogRecord) -> str:
    if record.levelno >= logging.ERROR:
        return "E"
    return "W" if record.levelno >= logging.WARNING else "I"


def _values(record: logging.LogRecord) -> dict[str, object]:
    values: dict[str, object] = getattr(record, _VALUES, {})
    return values


def _quote(value: object) -> str:
    """Numbers and booleans bare, everything else quoted and on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    text = str(value)
    return f'"{text}"' if re.fullmatch(r"[\w./:@%+ -]*", text) else json.dumps(text, ensure_ascii=False)

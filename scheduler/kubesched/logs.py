"""Log lines as Kubernetes components write them: klog's text or JSON, structured, with `-v` levels.

`-v` levels are the standard library's levels below INFO: level v is 20 - v, so anything that logs through
`logging` is filtered and formatted the same way. Both forms go to stderr, unless the streams are split.
Values are single facts (names, counts, texts), never whole objects, headers or environments: what tenants
write must not flood or forge the log. Follows `klog/v2` and `component-base/logs`.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TextIO

_OURS = "kubesched"
_VALUES = "kv"
# Keys whose values are "namespace/name" of an object, which JSON shows in two fields.
_OBJECTS = frozenset({"pod", "victim", "preemptor"})
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
    verbosity: int = 0,
    style: str = "text",
    vmodule: Sequence[str] = (),
    stream: TextIO | None = None,
    *,
    split: bool = False,
) -> None:
    """Send all logging to a stream, stderr by default, in one style, `text` or `json`.

    `vmodule` are klog's `pattern=N`: modules whose name matches get another verbosity. With `split` only what
    is logged as an error goes there, in text also warnings, and all else to stdout.
    """
    errors = logging.StreamHandler(stream or sys.stderr)
    handlers = [errors]
    if split:
        above = logging.ERROR if style == "json" else logging.WARNING
        errors.setLevel(above)
        others = logging.StreamHandler(sys.stdout)
        others.addFilter(lambda record: record.levelno < above)
        handlers.append(others)
    root = logging.getLogger()
    for old in list(root.handlers):
        root.removeHandler(old)
    for handler in handlers:
        handler.setFormatter(JsonFormatter() if style == "json" else TextFormatter())
        root.addHandler(handler)
    root.setLevel(logging.WARNING)
    set_verbosity(verbosity)
    for part in vmodule:
        pattern, _, level = part.partition("=")
        logging.getLogger(f"{_OURS}.{pattern}").setLevel(logging.INFO - int(level))


def set_verbosity(verbosity: int) -> None:
    """Write lines up to this verbosity from now on; what `vmodule` says of a module stays."""
    logging.getLogger(_OURS).setLevel(logging.INFO - verbosity)


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
        line |= {
            key: _reference(value) if key in _OBJECTS else value for key, value in _values(record).items()
        }
        if record.exc_info:
            line["stacktrace"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)


def _reference(value: object) -> object:
    """An object as klog's `ObjectRef` is marshalled."""
    namespace, slash, name = str(value).rpartition("/")
    return {"name": name, "namespace": namespace} if slash else value


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

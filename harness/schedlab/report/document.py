"""report.json: the whole run as data, for programs and for merging."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from schedlab.report.table import differences, matrix
from schedlab.runner.result import Result

VERSION = 1


def document(results: Sequence[Result], *, mode: str, seconds: float) -> dict[str, Any]:
    """The report; `mode` is `test` or `sensitivity`."""
    return {
        "version": VERSION,
        "mode": mode,
        "seconds": round(seconds, 3),
        "verdicts": dict(Counter(result.verdict for result in results)),
        "differences": differences(matrix(results)),
        "results": [msgspec.to_builtins(result) for result in results],
    }


def write(report: dict[str, Any], directory: Path) -> Path:
    """Write it into the run directory; returns the file."""
    directory.mkdir(parents=True, exist_ok=True)
    file = directory / "report.json"
    file.write_bytes(msgspec.json.format(msgspec.json.encode(report)) + b"\n")
    return file

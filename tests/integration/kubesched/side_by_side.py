"""Both schedulers' answers as Markdown tables, which the documentation shows and tests keep true."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).resolve().parents[3] / "docs"
UPDATE = "KUBESCHED_UPDATE_DOCS"

_TYPE = re.compile(r"^# TYPE (\S+) (\S+)$", re.MULTILINE)
_HELP = re.compile(r"^# HELP (\S+) (.*)$", re.MULTILINE)
_SAMPLE = re.compile(r"^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? \S+$", re.MULTILINE)
_LABEL = re.compile(r'([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True)
class Family:
    """What a metric is, whatever its values are."""

    type: str
    help: str
    labels: tuple[str, ...]
    buckets: tuple[float, ...]


def families(exposition: str) -> dict[str, Family]:
    """The metric families of a scrape that have samples."""
    helps = dict(_HELP.findall(exposition))
    types = dict(_TYPE.findall(exposition))
    labels: dict[str, set[str]] = {}
    bounds: dict[str, set[float]] = {}
    for sample, text in _SAMPLE.findall(exposition):
        name = sample if sample in types else re.sub(r"_(bucket|sum|count)$", "", sample)
        pairs = dict(_LABEL.findall(text))
        if (bound := pairs.pop("le", None)) is not None:
            bounds.setdefault(name, set()).add(round(float(bound), 9))
        labels.setdefault(name, set()).update(pairs)
    return {
        name: Family(
            types[name], helps.get(name, ""), tuple(sorted(found)), tuple(sorted(bounds.get(name, ())))
        )
        for name, found in labels.items()
        if name in types
    }


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def documented(name: str, title: str, sections: Mapping[str, str]) -> None:
    """Check that a generated page is what it would be now; with the switch set, write it."""
    made = f"# {title}\n\n"
    made += "Made by `make docs`: kube-scheduler 1.36.3 and kubesched side by side.\n"
    for heading, text in sections.items():
        made += f"\n## {heading}\n\n{text}"
    path = DOCS / name
    if os.environ.get(UPDATE):
        path.write_text(made)
    known = path.read_text() if path.exists() else ""
    assert known == made, f"{path.name} is out of date: run this test with {UPDATE}=1"

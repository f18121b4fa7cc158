"""Metrics as text, in the format that Prometheus has scraped since version 0.0.4.

The client library's own writer adds `_total` to every counter; two of kube-scheduler's have names without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prometheus_client.core import Metric
from prometheus_client.samples import Sample
from prometheus_client.utils import floatToGoString

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def write(families: Iterable[Metric]) -> bytes:
    """The page of these families."""
    return "".join(line for family in families for line in _lines(family)).encode()


def _lines(family: Metric) -> Iterator[str]:
    name = family.name
    if family.type == "counter" and family.samples:
        name = family.samples[0].name
    help_ = family.documentation.replace("\\", "\\\\").replace("\n", "\\n")
    yield f"# HELP {name} {help_}\n"
    yield f"# TYPE {name} {family.type}\n"
    for sample in family.samples:
        yield f"{sample.name}{_labels(sample)} {floatToGoString(sample.value)}\n"  # type: ignore[no-untyped-call]


def _labels(sample: Sample) -> str:
    if not sample.labels:
        return ""
    pairs = (f'{name}="{_escaped(value)}"' for name, value in sorted(sample.labels.items()))
    return f"{{{','.join(pairs)}}}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')

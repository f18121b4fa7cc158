"""What operators may change about metrics: which are not shown, and which label values are told apart.

Follows `component-base/metrics/api/v1/config.go`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from kubesched.config.flagset import Flags
from kubesched.config.problems import OptionsError, failed_to_open

_LABEL = "[a-zA-Z_][a-zA-Z0-9_]*"
_METRIC = "[a-zA-Z_:][a-zA-Z0-9_:]*"
_PREVIOUS = "1.35"


@dataclass(frozen=True, slots=True)
class MetricOptions:
    """`allowed` has, by metric and label, the values that are told apart; others become `unexpected`."""

    disabled: frozenset[str] = frozenset()
    allowed: Mapping[str, Mapping[str, frozenset[str]]] = field(default_factory=dict)


def metric_options(flags: Flags) -> MetricOptions:
    """The options that the flags ask for. Raises OptionsError in upstream's words."""
    disabled = flags.items("disabled-metrics")
    for name in disabled:
        if not re.fullmatch(_METRIC, name):
            raise OptionsError(
                "metrics.disabledMetrics: Invalid value: must be fully qualified metric names matching "
                f'"^{_METRIC}$", got "{name}"'
            )
    shown = flags.text("show-hidden-metrics-for-version")
    if shown not in {"", _PREVIOUS}:
        raise OptionsError(
            f'metrics.showHiddenMetricsForVersion: Invalid value: "{shown}": must be omitted or have the '
            f"value '{_PREVIOUS}'; only the previous minor version is allowed"
        )
    pairs, manifest = flags.items("allow-metric-labels"), flags.text("allow-metric-labels-manifest")
    if pairs and manifest:
        raise OptionsError(
            "metrics: Invalid value: cannot specify both allowListMapping and allowListMappingManifest"
        )
    given = _manifest(manifest) if manifest else dict(_pair(pair) for pair in pairs)
    return MetricOptions(frozenset(disabled), _allowed(given))


def _pair(text: str) -> tuple[str, str]:
    name, _, values = text.partition("=")
    return name, values


def _manifest(path: str) -> dict[str, str]:
    where = f'metrics.allowListMappingManifest: Invalid value: "{path}"'
    try:
        given = yaml.safe_load(Path(path).read_bytes())
    except OSError as error:
        raise OptionsError(f"{where}: failed to read allow list manifest: {failed_to_open(error)}") from error
    except yaml.YAMLError as error:
        raise OptionsError(f"{where}: failed to parse allow list manifest: {error}") from error
    if not isinstance(given, dict) or not all(isinstance(value, str) for value in given.values()):
        raise OptionsError(
            f'{where}: failed to parse allow list manifest: it is no mapping "metric,label": "a,b"'
        )
    return given


def _allowed(given: Mapping[str, str]) -> dict[str, dict[str, frozenset[str]]]:
    lists: dict[str, dict[str, frozenset[str]]] = {}
    for key, values in given.items():
        if not re.fullmatch(f"{_METRIC},{_LABEL}", str(key)):
            raise OptionsError(
                f'metrics.allowListMapping: Invalid value: "{key}": must have keys with format '
                f'`metricName,labelName` where metricName matches "{_METRIC}" and labelName matches '
                f'"{_LABEL}"'
            )
        metric, _, label = key.partition(",")
        lists.setdefault(metric, {})[label] = frozenset(values.split(","))
    return lists

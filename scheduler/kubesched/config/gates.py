"""Feature gates: which are on, after defaults and `--feature-gates`.

A gate is a name that upstream gave to a change in behaviour. Names, stages, defaults and locks are those of
kube-scheduler 1.36, so a command line that works there works here, and a typing error is refused at start.
Follows `component-base/featuregate/feature_gate.go`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from kubesched.config.known_gates import DEPENDENCIES, GROUPS

_ALL_OF_STAGE = {"AllAlpha": "ALPHA", "AllBeta": "BETA"}


class FeatureGateError(ValueError):
    """`--feature-gates` names an unknown gate, changes a locked one, or leaves a dependency disabled."""


@dataclass(frozen=True, slots=True)
class Gate:
    """What 1.36 says about one gate."""

    name: str
    stage: str
    default: bool
    locked: bool


@cache
def known() -> Mapping[str, Gate]:
    """Every gate by name."""
    gates = {
        name: Gate(name, stage, default, locked)
        for (stage, default, locked), names in GROUPS.items()
        for name in names.split()
    }
    gates |= {name: Gate(name, stage, False, False) for name, stage in _ALL_OF_STAGE.items()}
    return gates


class FeatureGates:
    """Answers whether a gate is on. Immutable; equal when the same gates are set."""

    __slots__ = ("_set",)

    def __init__(self, explicit: Mapping[str, bool] | None = None) -> None:
        self._set = _apply(dict(explicit or {}))

    def enabled(self, name: str) -> bool:
        """Whether the gate is on. An unknown name is a programming error: KeyError."""
        return self._set.get(name, known()[name].default)

    @property
    def explicit(self) -> Mapping[str, bool]:
        """The gates whose state was chosen rather than defaulted."""
        return dict(self._set)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FeatureGates) and self._set == other._set

    def __hash__(self) -> int:
        return hash(frozenset(self._set.items()))

    def __repr__(self) -> str:
        pairs = ",".join(f"{name}={str(value).lower()}" for name, value in sorted(self._set.items()))
        return f"FeatureGates({pairs})"


def parse(values: Iterable[str]) -> FeatureGates:
    """Read the values of a repeated `--feature-gates` flag: `A=true,kube:B=false`.

    A later setting of the same gate wins. Raises FeatureGateError with kube-scheduler's words.
    """
    explicit: dict[str, bool] = {}
    for value in values:
        for pair in filter(None, (part.strip() for part in value.split(","))):
            name, separator, text = pair.partition("=")
            component, colon, bare = name.strip().partition(":")
            if colon and component != "kube":
                raise FeatureGateError(f"component not registered: {component}")
            if not separator:
                raise FeatureGateError(f"missing bool value for {name}")
            explicit[bare if colon else component] = _bool(name, text.strip())
    return FeatureGates(explicit)


def _bool(name: str, text: str) -> bool:
    if text in {"1", "t", "T", "TRUE", "true", "True"}:
        return True
    if text in {"0", "f", "F", "FALSE", "false", "False"}:
        return False
    raise FeatureGateError(
        f'invalid value of {name}={text}, err: strconv.ParseBool: parsing "{text}": invalid syntax'
    )


def _apply(explicit: dict[str, bool]) -> dict[str, bool]:
    problems: list[str] = []
    for name, value in explicit.items():
        gate = known().get(name)
        if gate is None:
            raise FeatureGateError(f"unrecognized feature gate: {name}{_suggestion(name)}")
        if gate.locked and value != gate.default:
            locked = str(gate.default).lower()
            problems.append(
                f"cannot set feature gate {name} to {str(value).lower()}, feature is locked to {locked}"
            )
    if problems:
        raise FeatureGateError("; ".join(problems))
    enabled = _expand_stages(explicit)
    _check_dependencies(enabled)
    return enabled


def _expand_stages(explicit: dict[str, bool]) -> dict[str, bool]:
    """AllAlpha and AllBeta set every gate of their stage that is not set by name."""
    enabled = dict(explicit)
    for name, stage in _ALL_OF_STAGE.items():
        if name in explicit:
            for gate in known().values():
                if gate.stage == stage and gate.name not in _ALL_OF_STAGE:
                    enabled.setdefault(gate.name, explicit[name])
    return enabled


def _check_dependencies(enabled: Mapping[str, bool]) -> None:
    def on(name: str) -> bool:
        return enabled.get(name, known()[name].default)

    for name, needed in DEPENDENCIES.items():
        missing = [other for other in needed if not on(other)]
        if on(name) and missing:
            raise FeatureGateError(
                f"{name} is enabled, but depends on features that are disabled: [{' '.join(missing)}]"
            )


def _suggestion(name: str) -> str:
    close = difflib.get_close_matches(name, known(), n=1)
    return f' (did you mean "{close[0]}"?)' if close else ""

"""Taints and tolerations.

Follows upstream `core/v1/toleration.go` and component-helpers `scheduling/corev1`.
"""

from __future__ import annotations

from collections.abc import Iterable

from kubesched.api.base import Value
from kubesched.api.labels import Operator, requirement

NO_SCHEDULE = "NoSchedule"
PREFER_NO_SCHEDULE = "PreferNoSchedule"
NO_EXECUTE = "NoExecute"


class Taint(Value, frozen=True, gc=False):
    """`spec.taints[]` of a node."""

    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: str | None = None

    def __str__(self) -> str:
        """Write the taint as kubectl does: key=value:effect, without what is empty."""
        head = f"{self.key}={self.value}" if self.value else self.key
        return f"{head}:{self.effect}" if self.effect else head


class Toleration(Value, frozen=True, gc=False):
    """`spec.tolerations[]` of a pod."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


def tolerates(toleration: Toleration, taint: Taint, *, comparison: bool = False) -> bool:
    """Say whether one toleration covers one taint.

    An empty effect or key covers all; `Exists` covers every value; no operator means `Equal`. `Lt` and `Gt`
    compare integers, the taint's value against the toleration's, and cover nothing unless `comparison` is on
    (the feature gate TaintTolerationComparisonOperators, off in 1.36).
    """
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    match toleration.operator:
        case "" | "Equal":
            return toleration.value == taint.value
        case "Exists":
            return True
        case "Lt" | "Gt" if comparison:
            return _compares(toleration, taint)
    return False


def find_untolerated(
    taints: Iterable[Taint],
    tolerations: Iterable[Toleration],
    effects: Iterable[str],
    *,
    comparison: bool = False,
) -> Taint | None:
    """Give the first taint with one of the effects that no toleration covers, or None."""
    wanted = frozenset(effects)
    known = tuple(tolerations)
    for taint in taints:
        if taint.effect in wanted and not any(tolerates(t, taint, comparison=comparison) for t in known):
            return taint
    return None


def _compares(toleration: Toleration, taint: Taint) -> bool:
    """Compare the taint's integer with the toleration's; a text that is no decimal integer covers nothing."""
    if not (_is_decimal(toleration.value) and _is_decimal(taint.value)):
        return False
    try:
        bound = requirement(taint.key, Operator(toleration.operator), (toleration.value,))
    except ValueError:
        return False
    return bound.admits(taint.value)


def _is_decimal(text: str) -> bool:
    """Say whether the text is an integer in canonical form: no plus sign, no leading zero."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        return False
    return text == "0" or digits[0] != "0"

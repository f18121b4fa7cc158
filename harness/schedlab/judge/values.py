"""The small languages inside Kubernetes objects: quantities, label selectors, node selectors, taints.

Works on the API's JSON as it is.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

Object = Mapping[str, Any]
Labels = Mapping[str, str]

_SUFFIXES = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "": Fraction(1),
    "k": Fraction(10**3),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "T": Fraction(10**12),
    "P": Fraction(10**15),
    "E": Fraction(10**18),
    "Ki": Fraction(2**10),
    "Mi": Fraction(2**20),
    "Gi": Fraction(2**30),
    "Ti": Fraction(2**40),
    "Pi": Fraction(2**50),
    "Ei": Fraction(2**60),
}
_QUANTITY = re.compile(
    r"(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?P<suffix>[numkMGTPE]|[KMGTPE]i)?"
)


@functools.cache
def quantity(text: str) -> Fraction:
    """The exact value of `100m`, `1.5Gi`, `1e3` or `1E`; raises ValueError for what is not a quantity."""
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a quantity")
    return Fraction(match["number"]) * _SUFFIXES[match["suffix"] or ""]


def amount(resource: str, exact: Fraction) -> int:
    """A quantity in the unit that schedulers count in, rounded up: thousandths for cpu, ones for all else."""
    return math.ceil(exact * 1000 if resource == "cpu" else exact)


def meets(labels: Labels, key: str, operator: str, values: Iterable[str]) -> bool:
    """True if the labels meet one requirement of a label selector or node selector.

    A key that is missing meets NotIn and DoesNotExist. Gt and Lt compare whole numbers of 64 bits; what is
    not such a number meets neither.
    """
    present = key in labels
    if operator == "In":
        return present and labels[key] in values
    if operator == "NotIn":
        return not present or labels[key] not in values
    if operator == "Exists":
        return present
    if operator == "DoesNotExist":
        return not present
    left, right = _whole(labels.get(key)), _whole(next(iter(values), None))
    if left is None or right is None:
        return False
    return left > right if operator == "Gt" else left < right


def _whole(text: str | None) -> int | None:
    if text is None or not text.lstrip("+-").isdecimal() or not text.isascii():
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


def selects(selector: Object | None, labels: Labels) -> bool:
    """True if a label selector matches. An absent selector matches nothing, an empty one everything."""
    if selector is None:
        return False
    wanted = selector.get("matchLabels") or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    expressions = selector.get("matchExpressions") or ()
    return all(meets(labels, one["key"], one["operator"], one.get("values") or ()) for one in expressions)


def is_empty(selector: Object | None) -> bool:
    """True for a selector that is present and demands nothing."""
    return selector is not None and not selector.get("matchLabels") and not selector.get("matchExpressions")


def term_matches(term: Object, node: Object) -> bool:
    """True if a node selector term matches the node. A term that demands nothing matches nothing."""
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not expressions and not fields:
        return False
    labels = node["metadata"].get("labels") or {}
    named = {"metadata.name": node["metadata"]["name"]}
    return all(
        meets(labels, one["key"], one["operator"], one.get("values") or ()) for one in expressions
    ) and all(meets(named, one["key"], one["operator"], one.get("values") or ()) for one in fields)


def tolerates(toleration: Object, taint: Object) -> bool:
    """True if the toleration covers the taint. What it leaves empty, it does not ask about."""
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    if toleration.get("operator") == "Exists":
        return True
    return bool(toleration.get("value", "") == taint.get("value", ""))


def tolerated(pod: Object, taint: Object) -> bool:
    """True if any toleration of the pod covers the taint."""
    return any(tolerates(one, taint) for one in pod["spec"].get("tolerations") or ())

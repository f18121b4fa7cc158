"""The normalisation that several plugins share.

Follows upstream `helper/normalize_score.go` (1.36).
"""

from __future__ import annotations

from kubesched.framework import MAX_SCORE, Points


def default_normalize(raw: Points, *, reverse: bool) -> Points:
    """Scale so that the highest raw score becomes 100; `reverse` makes the highest the worst.

    With nothing above zero all worlds stay at 0, or get 100 when reversed. Raw scores are not negative, so
    that floor division is Go's.
    """
    top = int(raw.max()) if raw.size else 0
    if top == 0:
        return raw + MAX_SCORE if reverse else raw
    scaled: Points = raw * MAX_SCORE // top
    return MAX_SCORE - scaled if reverse else scaled

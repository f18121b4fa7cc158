"""An invariant that did not hold: where, and what it was about."""

from __future__ import annotations

from typing import Any

import msgspec

from schedlab.api.objects import Ref


class Finding(msgspec.Struct, frozen=True):
    """`version` is the resource version at which it shows, 0 without one; `shown` are objects as of then."""

    invariant: str
    text: str
    version: int
    objects: tuple[Ref, ...]
    shown: tuple[Any, ...] = ()

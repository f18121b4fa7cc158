"""What to play on a cluster: objects that exist from the start, and pods that then arrive one after another.

A plan is written as one would write manifests, except that fields which only a kubelet or a controller sets
may be given, too: a pod's `status`, its `deletionTimestamp`, a budget's `disruptionsAllowed`. The recorder
brings them about.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """One case before it is played.

    `timed` gives every pod that gets bound a start time of its own, as a kubelet would: preemption orders
    victims by it, and without one the reference's order is arbitrary. `keep_nominated` leaves pods that were
    nominated pending; all other pods that did not fit are deleted while the next one arrives.
    `until_eviction` ends the case with the first preemption.
    """

    objects: tuple[Object, ...]
    arrivals: tuple[Object, ...]
    seed: int | None = None
    features: tuple[str, ...] = ()
    timed: bool = False
    keep_nominated: bool = False
    until_eviction: bool = False
    source: str = ""

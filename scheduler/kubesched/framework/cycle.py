"""One attempt to place one pod, and the typed places in which plugins remember things during it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from random import Random
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

if TYPE_CHECKING:
    from kubesched.api.objects import Pod
    from kubesched.framework.alike import Memory
    from kubesched.framework.runtime import Framework
    from kubesched.state import ClusterReader

S = TypeVar("S")


class Slot(Generic[S]):
    """A typed place in every cycle, declared once by the module that fills and reads it.

    It replaces upstream's string-keyed CycleState map: the type checker knows what comes out, and two
    plugins cannot meet under one key. A plugin may own several, for example one for filtering and one
    for scoring.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Cycle:
    """One attempt of one pod; it lives until the pod's binding ends.

    `now` is the clock's monotonic time at which the attempt began. `skip_filter` and `skip_score` name the
    plugins whose PreFilter or PreScore answered Skip. `memory` is what is kept for pods like this one.
    `exhaustive` asks for everything where a live cycle
    would look at a sample. Pods that a plugin puts into `to_activate` (by uid)
    leave the unschedulable ones when the scheduling cycle or the binding succeeds. Follows upstream
    `framework.CycleState` and `PodsToActivate`.
    """

    __slots__ = (
        "_slots",
        "cluster",
        "exhaustive",
        "framework",
        "memory",
        "now",
        "pod",
        "rng",
        "skip_filter",
        "skip_score",
        "to_activate",
    )

    pod: Pod
    cluster: ClusterReader
    now: float
    rng: Random
    exhaustive: bool
    to_activate: dict[str, Pod]

    def __init__(
        self,
        pod: Pod,
        cluster: ClusterReader,
        *,
        framework: Framework,
        now: float = 0.0,
        rng: Random | None = None,
        exhaustive: bool = False,
    ) -> None:
        self.pod = pod
        self.cluster = cluster
        self.framework = framework
        self.now = now
        self.exhaustive = exhaustive
        self.rng = rng or Random(0)  # noqa: S311 - ties between nodes, no secret
        self.skip_filter: frozenset[str] = frozenset()
        self.skip_score: frozenset[str] = frozenset()
        self.memory: Memory | None = None
        self.to_activate = {}
        self._slots: dict[Slot[Any], object] = {}

    def put(self, slot: Slot[S], value: S) -> None:
        """Remember `value` for the rest of the cycle."""
        self._slots[slot] = value

    def get(self, slot: Slot[S]) -> S:
        """What was put; raises LookupError when the extension point that puts it has not run."""
        try:
            return cast("S", self._slots[slot])
        except KeyError:
            raise LookupError(f"cycle of pod {self.pod.key}: nothing was put into {slot.name!r}") from None

    def find(self, slot: Slot[S]) -> S | None:
        """What was put, or None."""
        return cast("S | None", self._slots.get(slot))

    @property
    def size(self) -> int:
        """How many slots are filled."""
        return len(self._slots)

    def put_since(self, size: int) -> dict[Slot[Any], object]:
        """What was put since so many slots were filled."""
        return dict(islice(self._slots.items(), size, None))

    def adopt(self, slots: Mapping[Slot[Any], object]) -> None:
        """Put what was put for another pod; nobody changes a value after the extension point that put it."""
        self._slots.update(slots)

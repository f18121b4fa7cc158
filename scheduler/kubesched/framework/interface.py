# ruff: noqa: D102 - the docstring of a protocol speaks for its one or two methods
"""The contract of a plugin: one small protocol per extension point.

The runtime knows only the vector protocols (`Filter`, `Score`): they answer for K worlds at once. A plugin
that prefers to look at one node at a time implements `NodeFilter` or `NodeScore` instead, and registration
wraps it. A plugin is any object with a `name`; which protocols it implements is read off its methods and
checked at registration. Follows upstream `k8s.io/kube-scheduler/framework/interface.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from kubesched.framework.status import Status

if TYPE_CHECKING:
    from kubesched.api.objects import Pod
    from kubesched.framework.cycle import Cycle
    from kubesched.framework.diagnosis import Diagnosis
    from kubesched.state import NodeView, View
    from kubesched.state.events import ClusterEvent

Codes: TypeAlias = NDArray[np.int64]
"""One private code per world: 0 passes."""
Points: TypeAlias = NDArray[np.int64]
"""One score per world."""

API_VERSION = "1.0"
"""The version of the public surface, major.minor: a minor one adds, a major one may take away."""

MAX_SCORE = 100
"""The highest score after normalisation; the lowest is 0."""


class Hint(Enum):
    """What a plugin says about an event that might make a pod it rejected schedulable."""

    Skip = "Skip"
    Queue = "Queue"


HintFn: TypeAlias = "Callable[[Pod, ClusterEvent], Hint]"
"""Asked about a pod that the plugin rejected and an event; an exception counts as Queue."""


@dataclass(frozen=True, slots=True)
class ClusterEventWithHint:
    """An event a plugin waits for; without a hint every such event wakes the pod."""

    event: ClusterEvent
    hint: HintFn | None = None


@dataclass(frozen=True, slots=True)
class NodeNames:
    """A PreFilter answer: only these nodes can hold the pod."""

    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class PostFilterResult:
    """What a PostFilter plugin achieved.

    `nominated` None leaves the pod's nomination alone, "" clears it. `victims` are to be evicted from the
    nominated node before the pod can go there, and `displaced` pods, nominated to it, are to lose their
    nomination; the caller does both, since plugins do no I/O. With `ask` the result is still open: awaiting
    its call, which asks HTTP extenders, gives the final one.
    """

    status: Status | None = None
    nominated: str | None = None
    victims: tuple[Pod, ...] = ()
    displaced: tuple[Pod, ...] = ()
    ask: Callable[[], Awaitable[PostFilterResult]] | None = None


@dataclass(frozen=True, slots=True)
class PreFlight:
    """A PreBind plugin will work for this pod; `parallel` ones may run beside each other."""

    parallel: bool = False


class QueuedPod(Protocol):
    """What QueueSort reads of a waiting pod."""

    @property
    def pod(self) -> Pod: ...
    @property
    def timestamp(self) -> float: ...


class Plugin(Protocol):
    """Anything with a name; it is built by `factory(args, handle)`."""

    name: ClassVar[str]


@runtime_checkable
class PreEnqueue(Plugin, Protocol):
    """Keeps a pod out of the active queue."""

    def pre_enqueue(self, pod: Pod) -> Status | None: ...


@runtime_checkable
class QueueSort(Plugin, Protocol):
    """Orders the active queue."""

    def less(self, left: QueuedPod, right: QueuedPod) -> bool: ...


@runtime_checkable
class EnqueueExtensions(Plugin, Protocol):
    """Names the events after which a pod this plugin rejected is worth another attempt."""

    def events_to_register(self) -> Sequence[ClusterEventWithHint]: ...


@runtime_checkable
class PreFilter(Plugin, Protocol):
    """Prepares for one pod, rejects it outright, narrows the nodes, or skips the coupled Filter."""

    def pre_filter(self, cycle: Cycle) -> Status | NodeNames | None: ...


@runtime_checkable
class Filter(Plugin, Protocol):
    """Decides which worlds can hold the pod.

    `filter` gives one private code per world, 0 passes, a negative one is an Error on that world; None is all
    zeros. It commutes with `take`: filter(view.take(i)) equals filter(view)[i]. `status` decodes one code,
    only when a message, hint, preemption or explain asks.
    """

    def filter(self, cycle: Cycle, view: View) -> Codes | None: ...
    def status(self, cycle: Cycle, code: int) -> Status: ...


@runtime_checkable
class PostFilter(Plugin, Protocol):
    """Runs when no node is feasible, usually to make room."""

    def post_filter(self, cycle: Cycle, diagnosis: Diagnosis) -> PostFilterResult: ...


@runtime_checkable
class PreScore(Plugin, Protocol):
    """Prepares for scoring the feasible worlds; Skip leaves the coupled Score out."""

    def pre_score(self, cycle: Cycle, view: View) -> Status | None: ...


@runtime_checkable
class Score(Plugin, Protocol):
    """Ranks the feasible worlds; the result must lie in 0..100 after `normalize`, if there is one."""

    def score(self, cycle: Cycle, view: View) -> Points: ...


@runtime_checkable
class Normalize(Plugin, Protocol):
    """Scales raw scores to 0..100 over the feasible set (upstream's ScoreExtensions)."""

    def normalize(self, cycle: Cycle, view: View, raw: Points) -> Points: ...


@runtime_checkable
class Signed(Plugin, Protocol):
    """Says what its answers follow from, so that they are kept for like pods (upstream's SignPlugin).

    For pods of equal signature, PreFilter and PreScore answer alike; Filter's codes and Score's raw points of
    a node follow from the signature, the node and the pods on it alone. Where all nodes have the same raw
    points, these are normalised as those of one node. None: something else counts for this pod, so that it
    is asked anew. What counts beside the pod, such as the number of nodes, belongs into the signature.
    """

    def sign(self, pod: Pod) -> Hashable | None: ...


@runtime_checkable
class Reserve(Plugin, Protocol):
    """Keeps what the pod will use on the chosen node; `unreserve` must be safe to call at any time."""

    def reserve(self, cycle: Cycle, node_name: str) -> Status | None: ...
    def unreserve(self, cycle: Cycle, node_name: str) -> None: ...


@runtime_checkable
class Permit(Plugin, Protocol):
    """Approves, denies, or delays the binding; a Wait status comes with its timeout in seconds."""

    def permit(self, cycle: Cycle, node_name: str) -> tuple[Status | None, float]: ...


@runtime_checkable
class PreBind(Plugin, Protocol):
    """Does what must be done before the binding, outside the scheduling cycle.

    `pre_bind_pre_flight` says beforehand whether there is anything to do: a PreFlight, a Skip status, or
    an Error status.
    """

    def pre_bind_pre_flight(self, cycle: Cycle, node_name: str) -> PreFlight | Status: ...
    async def pre_bind(self, cycle: Cycle, node_name: str) -> Status | None: ...


@runtime_checkable
class Bind(Plugin, Protocol):
    """Binds the pod; the first plugin that does not skip has the say."""

    async def bind(self, cycle: Cycle, node_name: str) -> Status | None: ...


@runtime_checkable
class PostBind(Plugin, Protocol):
    """Hears that the pod was bound."""

    async def post_bind(self, cycle: Cycle, node_name: str) -> None: ...


@runtime_checkable
class NodeFilter(Plugin, Protocol):
    """The 20-line kind of Filter: one node at a time, with plain attributes; an exception is an Error."""

    def filter_node(self, cycle: Cycle, node: NodeView) -> Status | None: ...


@runtime_checkable
class NodeScore(Plugin, Protocol):
    """The 20-line kind of Score: one node at a time."""

    def score_node(self, cycle: Cycle, node: NodeView) -> int: ...

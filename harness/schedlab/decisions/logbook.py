"""Follows a scheduler's log: attempts per pod, and counts of what its informers delivered.

The lines come from upstream pkg/scheduler/schedule_one.go, eventhandlers.go,
backend/queue/scheduling_queue.go and framework/preemption/executor.go (1.36) at the verbosity of `VERBOSITY`.
Informer lines matter as barriers: objects of different kinds arrive on separate watches without mutual order,
so whoever writes a state waits here until the scheduler has said that it knows it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from schedlab import timing
from schedlab.decisions.decision import NodeName, PodKey
from schedlab.decisions.klog import Line, parse
from schedlab.errors import SchedlabError

#: Everything that is read here and little else: at a plain -v=10 the log is mostly HTTP bodies.
VERBOSITY = ("-v=2", "--vmodule=schedule_one=10,eventhandlers=4,scheduling_queue=5,preemption=4,executor=4")

_ATTEMPT = "Attempting to schedule pod"
_PLUGIN_SCORE = "Plugin scored node for pod"
_TOTAL_SCORE = "Calculated node's final score for pod"
_BOUND = "Successfully bound pod to node"
_NO_FIT = "Unable to schedule pod; no fit; waiting"
_NO_NODES = "Unable to schedule pod; no nodes are registered to the cluster; waiting"
_ERROR = "Error scheduling pod; retrying"
_GATED = "Pod moved to an internal scheduling queue, because the pod is gated"
_PREEMPTED = "Async Preemption finished completely"

NODE_ADDED = "Add event for node"
NODE_UPDATED = "Update event for node"
NODE_DELETED = "Delete event for node"
POD_ADDED = "Add event for scheduled pod"
POD_UPDATED = "Update event for scheduled pod"
POD_DELETED = "Delete event for scheduled pod"
PENDING_ADDED = "Add event for unscheduled pod"
PENDING_UPDATED = "Update event for unscheduled pod"
PENDING_DELETED = "Delete event for unscheduled pod"

_DELIVERIES = frozenset(
    {
        NODE_ADDED,
        NODE_UPDATED,
        NODE_DELETED,
        POD_ADDED,
        POD_UPDATED,
        POD_DELETED,
        PENDING_ADDED,
        PENDING_UPDATED,
        PENDING_DELETED,
    }
)
_WANTED = _DELIVERIES | {
    _ATTEMPT,
    _PLUGIN_SCORE,
    _TOTAL_SCORE,
    _BOUND,
    _NO_FIT,
    _NO_NODES,
    _ERROR,
    _GATED,
    _PREEMPTED,
}


@dataclass(slots=True)
class Attempt:
    """What the log says about one try to schedule one pod; `end` is None while it lasts."""

    end: str | None = None
    message: str | None = None
    scores: dict[NodeName, dict[str, int]] = field(default_factory=dict)
    totals: dict[NodeName, int] = field(default_factory=dict)


class Logbook:
    """The log so far: attempts per pod, and how often each informer line was seen for each object."""

    def __init__(self) -> None:
        self.deliveries: Counter[tuple[str, str]] = Counter()
        self.gated: Counter[PodKey] = Counter()
        self.preempted: Counter[PodKey] = Counter()
        self._attempts: dict[PodKey, list[Attempt]] = {}
        self._pending = ""

    def attempts(self, pod: PodKey) -> list[Attempt]:
        """All tries of a pod, oldest first."""
        return self._attempts.get(pod, [])

    def pods(self) -> Iterator[tuple[PodKey, list[Attempt]]]:
        """Each pod that was tried, with all its tries."""
        yield from self._attempts.items()

    def forget_pods(self) -> None:
        """Start afresh with pods, so that a name can be used again; informer counts go on."""
        self._attempts.clear()
        self.gated.clear()
        self.preempted.clear()

    def feed(self, text: str) -> None:
        """Take in the next piece of the log; an incomplete last line waits for its rest."""
        *lines, self._pending = (self._pending + text).split("\n")
        for raw in lines:
            line = parse(raw, _WANTED)
            if line is not None:
                self._note(line)

    def _note(self, line: Line) -> None:
        if line.message in _DELIVERIES:
            subject = line.fields.get("pod") or line.fields.get("node", "")
            self.deliveries[line.message, subject] += 1
            return
        pod = line.fields.get("pod", "")
        if line.message == _ATTEMPT:
            self._attempts.setdefault(pod, []).append(Attempt())
        elif line.message == _GATED:
            self.gated[pod] += 1
        elif line.message == _PREEMPTED:
            self.preempted[line.fields["preemptor"]] += 1
        else:
            self._continue(pod, line)

    def _continue(self, pod: PodKey, line: Line) -> None:
        attempts = self._attempts.get(pod)
        if not attempts:  # the log was opened in the middle of this attempt
            return
        attempt, fields = attempts[-1], line.fields
        if line.message == _PLUGIN_SCORE:
            attempt.scores.setdefault(fields["node"], {})[fields["plugin"]] = int(fields["score"])
        elif line.message == _TOTAL_SCORE:
            attempt.totals[fields["node"]] = int(fields["score"])
        elif line.message == _BOUND:
            attempt.end = "Scheduled"
        elif line.message == _NO_FIT:
            attempt.end, attempt.message = "Unschedulable", fields.get("err")
        elif line.message == _NO_NODES:
            attempt.end = "Unschedulable"
        else:
            attempt.end, attempt.message = "Error", fields.get("err")


class Tail:
    """Reads a growing log file into a logbook, and waits for what it will say."""

    def __init__(self, path: Path, *, interval: float = 0.002) -> None:
        self.book = Logbook()
        self._file = path.open(encoding="utf-8", errors="replace", newline="\n")
        self._interval = interval

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def pump(self) -> None:
        """Read all that has been written since the last call."""
        while text := self._file.read(1 << 20):
            self.book.feed(text)

    async def until(self, met: Callable[[], bool], what: str, *, within: float = 30.0) -> None:
        """Return once `met` holds, reading the log in between.

        Raises:
            SchedlabError: not within `within` seconds; the message says `what` was awaited.
        """
        deadline = timing.Deadline.after(within)
        while True:
            self.pump()
            if met():
                return
            if deadline.expired:
                raise SchedlabError(
                    f"the scheduler's log did not show within {within:g} s: {what}",
                    hint=f"read {self._file.name}; the scheduler may have ended or run at a lower verbosity",
                )
            await timing.sleep(self._interval)

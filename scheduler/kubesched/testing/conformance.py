"""What every plugin must keep to, checked on small states: `check_plugin(plugin)`.

* A filter gives one code per world, and commutes with `take`.
* Adding pods to worlds and removing them again changes no answer. Only pods that share a host port with none
  there are tried: one that leaves frees it for all, as upstream.
* A pod added to a world counts like a pod that is there.
* Every code decodes: a positive one to a rejection with a reason, a negative one to an Error.
* Scores of the worlds that its own filter passes have one number each, commute with `take`, and lie in 0..100
  once normalised.
* What a plugin keeps between decisions follows events: after a history it answers like one that is new.
* What a plugin signs is hashable, and its codes and raw points of a node then follow from that node alone.
* Hints are registered for known events and answer Queue or Skip.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kubesched.api.objects import KINDS, Object, Pod
from kubesched.clock import VirtualClock
from kubesched.config.gates import FeatureGates
from kubesched.framework import Cycle, Handle, Hint, NodeNames, Status
from kubesched.framework.construction import Maker, make
from kubesched.framework.hints import events_of
from kubesched.framework.registration import Registered, register
from kubesched.framework.runtime import Framework
from kubesched.framework.status import Code
from kubesched.framework.weighted import Weighted
from kubesched.state import Cluster, View
from kubesched.state.events import Resource, WatchEvent
from kubesched.testing.builders import cluster
from kubesched.testing.happenings import happened, history
from kubesched.testing.scenarios import Scenario, scenarios


class ConformanceError(AssertionError):
    """A plugin does not keep to the contract; the message names the plugin, the scenario and the rule."""


def check_plugin(
    factory: Maker,
    *,
    args: object = None,
    more: Iterable[Scenario] = (),
    gates: FeatureGates | None = None,
) -> None:
    """Check a plugin: a plugin class or a function of (args, handle), as an entry point names it.

    `more` scenarios are tried after the kit's own. Raises ConformanceError at the first broken rule, and
    RegistrationError for a plugin that cannot be registered.
    """
    for scenario in (*scenarios(), *more):
        trial = _Trial(factory, args, gates or FeatureGates(), scenario)
        trial.check_queueing()
        trial.check_filter()
        trial.check_score()
        trial.check_sign()
        trial.check_reserve()
        trial.check_history()


class _Trial:
    """One plugin on one scenario."""

    def __init__(self, factory: Maker, args: object, gates: FeatureGates, scenario: Scenario) -> None:
        self._factory = factory
        self._args = args
        self._gates = gates
        self._scenario = scenario
        self._cluster = cluster(*scenario.objects)
        self._item = self._built(self._cluster)

    def check_queueing(self) -> None:
        points = self._item.points
        if "pre_enqueue" in points:
            self._status(points["pre_enqueue"].pre_enqueue(self._scenario.pod), "pre_enqueue")
        if "queue_sort" in points:
            waiting = _Waiting(self._scenario.pod)
            self._require(not points["queue_sort"].less(waiting, waiting), "no pod comes before itself")
        for registered in events_of(self._item):
            event = registered.event
            self._require(bool(event.action), f"event {event!r} names no action")
            self._require(
                event.resource not in (Resource.AssignedPod, Resource.UnschedulablePod),
                f"event {event!r}: register Resource.Pod, which covers both sides of binding",
            )
            if registered.hint is not None:
                for one in happened(event):
                    answer = registered.hint(self._scenario.pod, one)
                    self._require(isinstance(answer, Hint), f"the hint of {event!r} gave {answer!r}")

    def check_filter(self) -> None:
        points = self._item.points
        cycle, view = self._cycle(self._cluster, self._item), self._all(self._cluster)
        if "filter" not in points or self._prepare(cycle) is not Code.Success:
            return
        codes = self._codes(cycle, view)
        for index in _indexes(len(view)):
            part = self._codes(cycle, view.take(index))
            self._require(
                np.array_equal(part, codes[index]),
                f"filter(view.take({index.tolist()})) gave {part.tolist()}, "
                f"filter(view) there {codes[index].tolist()}",
            )
        self._check_codes(cycle, codes)
        self._check_moves(cycle, view, codes)

    def check_score(self) -> None:
        points = self._item.points
        if "score" not in points:
            return
        cycle, view = self._cycle(self._cluster, self._item), self._all(self._cluster)
        prepared = self._prepare(cycle)
        if prepared not in (Code.Success, Code.Skip):
            return
        if "filter" in points and prepared is Code.Success:
            view = view.take(self._codes(cycle, view) == 0)
        if "pre_score" in points:
            status = points["pre_score"].pre_score(cycle, view)
            self._status(status, "pre_score")
            if status is not None and status.code is not Code.Success:
                return
        raw = self._numbers(points["score"].score(cycle, view), len(view), "score")
        for index in _indexes(len(view)):
            part = self._numbers(points["score"].score(cycle, view.take(index)), len(index), "score")
            self._require(np.array_equal(part, raw[index]), f"score(view.take({index.tolist()})) differs")
        if "normalize" in points:
            normal = points["normalize"].normalize(cycle, view, raw.copy())
            raw = self._numbers(normal, len(view), "normalize")
        self._require(bool(((raw >= 0) & (raw <= 100)).all()), f"scores {raw.tolist()} are not all in 0..100")

    def check_sign(self) -> None:
        signature = self._signature(self._item)
        if signature is None:
            return
        self._require(_is_hashable(signature), f"sign gave {signature!r}, which is not hashable")
        whole = self._local_answers(self._cluster, self._item)
        for k, row in enumerate(self._cluster.nodes.order.tolist()):
            name = self._cluster.nodes.names[row]
            alone = cluster(*(item for item in self._scenario.objects if _counts_on(item, name)))
            item = self._built(alone)
            if self._signature(item) != signature:
                continue
            answers = self._local_answers(alone, item)
            self._require(
                [part[k] for part in answers] == [part[k] for part in whole],
                f"it signs the pod, but its answers on {name} change when pods leave other nodes",
            )

    def check_reserve(self) -> None:
        reserve = self._item.points.get("reserve")
        if reserve is not None:
            cycle = self._cycle(self._cluster, self._item)
            for _ in range(2):
                reserve.unreserve(cycle, "n0")

    def check_history(self) -> None:
        for _ in range(2):
            self._answer(self._cluster, self._item)
        for event in history(self._scenario):
            self._cluster.apply(event)
        objects = [item for kind in KINDS for item in self._cluster.list(kind)]
        rebuilt = cluster(*sorted(objects, key=lambda item: item.kind == "Pod"))
        kept, anew = self._answer(self._cluster, self._item), self._answer(rebuilt, self._built(rebuilt))
        self._require(kept == anew, f"after events it answers {kept}, on a state built anew {anew}")

    def _answer(self, state: Cluster, item: Registered) -> object:
        """All that the plugin says of the scenario's pod: its PreFilter, codes and scores by node."""
        cycle, view = self._cycle(state, item), self._all(state)
        names = [state.nodes.names[row] for row in view.rows]
        first = item.points["pre_filter"].pre_filter(cycle) if "pre_filter" in item.points else None
        said: dict[str, object] = {"pre_filter": first}
        if "filter" in item.points and not isinstance(first, Status):
            said["codes"] = dict(zip(names, self._codes(cycle, view, item).tolist(), strict=True))
        rejected = isinstance(first, Status) and first.code is not Code.Skip
        if "score" in item.points and not rejected:
            before = item.points["pre_score"].pre_score(cycle, view) if "pre_score" in item.points else None
            if before is None:
                points = item.points["score"].score(cycle, view)
                said["scores"] = dict(zip(names, points.tolist(), strict=True))
        return said

    def _signature(self, item: Registered) -> Hashable | None:
        signs = item.points.get("sign")
        signature: Hashable | None = None if signs is None else signs.sign(self._scenario.pod)
        return signature

    def _local_answers(self, state: Cluster, item: Registered) -> list[list[int]]:
        """Codes and raw points of every node, as far as the plugin does not leave the pod alone."""
        cycle, view, answers = self._cycle(state, item), self._all(state), []
        if self._prepare(cycle, item=item) is not Code.Success:
            return []
        points = item.points
        if "filter" in points:
            answers.append(self._codes(cycle, view, item).tolist())
        if "score" in points:
            skips = points["pre_score"].pre_score(cycle, view) if "pre_score" in points else None
            if skips is None:
                answers.append(points["score"].score(cycle, view).tolist())
        return answers

    def _check_codes(self, cycle: Cycle, codes: NDArray[np.int64]) -> None:
        plugin = self._item.points["filter"]
        for code in sorted(set(codes.tolist()) - {0}):
            status = plugin.status(cycle, code)
            self._require(isinstance(status, Status), f"status({code}) gave {status!r}")
            if code < 0:
                self._require(status.code is Code.Error, f"status({code}) of a negative code is {status}")
            else:
                self._require(status.is_rejected, f"status({code}) is no rejection: {status}")
                self._require(bool(status.reasons), f"status({code}) gives no reason")

    def _check_moves(self, cycle: Cycle, view: View, codes: NDArray[np.int64]) -> None:
        worlds = range(len(view))
        for guest in self._scenario.guests:
            added = view.add(worlds, [[guest]] * len(view))
            leaving = [k for k in worlds if view.node(k).ports.isdisjoint(guest.host_ports)]
            back = view.add(leaving, [[guest]] * len(leaving)).remove(leaving, [[guest]] * len(leaving))
            self._same(self._codes(cycle, back), codes, f"adding and removing {guest.key}")
            self._check_arrival(guest, self._codes(cycle, added))
        there = [view.pods(k) for k in worlds]
        back = view.remove(worlds, there).add(worlds, there)
        self._same(self._codes(cycle, back), codes, "removing and adding all pods")

    def _check_arrival(self, guest: Pod, imagined: NDArray[np.int64]) -> None:
        """A world with the guest answers as a cluster in which the guest is on that node."""
        real = cluster(*self._scenario.objects)
        item = self._built(real)
        for k, name in enumerate(self._cluster.nodes.names[row] for row in self._cluster.nodes.order):
            there = guest.assigned_to(name)
            real.apply(WatchEvent("ADDED", there))
            cycle = self._cycle(real, item)
            if self._prepare(cycle, item=item) is Code.Success:
                codes = self._codes(cycle, self._all(real), item)
                self._require(
                    bool(codes[k]) == bool(imagined[k]),
                    f"with {guest.key} on {name} a view gives the code {imagined[k]}, a cluster {codes[k]}",
                )
            real.apply(WatchEvent("DELETED", there))

    def _built(self, state: Cluster) -> Registered:
        handle = Handle(state, VirtualClock(), self._gates, Random(0))  # noqa: S311 - ties only
        return register(
            make(str(getattr(self._factory, "name", "plugin")), self._factory, self._args, handle)
        )

    def _cycle(self, state: Cluster, item: Registered) -> Cycle:
        points = item.points
        framework = Framework(
            VirtualClock(),
            filters=[points["filter"]] if "filter" in points else [],
            scores=[Weighted(points["score"], 1, points.get("normalize"))] if "score" in points else [],
        )
        return Cycle(self._scenario.pod, state, framework=framework)

    def _prepare(self, cycle: Cycle, *, item: Registered | None = None) -> Code:
        """Run PreFilter; what it answers."""
        pre_filter = (item or self._item).points.get("pre_filter")
        if pre_filter is None:
            return Code.Success
        answer = pre_filter.pre_filter(cycle)
        if answer is None or isinstance(answer, NodeNames):
            return Code.Success
        self._status(answer, "pre_filter")
        code: Code = answer.code
        return code

    def _codes(self, cycle: Cycle, view: View, item: Registered | None = None) -> NDArray[np.int64]:
        codes = (item or self._item).points["filter"].filter(cycle, view)
        if codes is None:
            return np.zeros(len(view), np.int64)
        return self._numbers(codes, len(view), "filter")

    def _numbers(self, value: Any, size: int, method: str) -> NDArray[np.int64]:  # noqa: ANN401 - it is checked here
        self._require(isinstance(value, np.ndarray), f"{method} gave {type(value).__name__}, not an array")
        self._require(value.dtype == np.int64, f"{method} gave {value.dtype}, not int64")
        self._require(value.shape == (size,), f"{method} gave shape {value.shape} for {size} worlds")
        numbers: NDArray[np.int64] = value
        return numbers

    def _status(self, value: object, method: str) -> None:
        self._require(value is None or isinstance(value, Status), f"{method} gave {value!r}")

    def _same(self, left: NDArray[np.int64], right: NDArray[np.int64], what: str) -> None:
        self._require(
            np.array_equal(left, right),
            f"{what} changed the codes from {right.tolist()} to {left.tolist()}",
        )

    def _require(self, holds: bool, rule: str) -> None:
        if not holds:
            raise ConformanceError(f'plugin "{self._item.name}", {self._scenario.name}: {rule}')

    @staticmethod
    def _all(state: Cluster) -> View:
        state.nodes.snapshot()
        return View(state, state.nodes.order)


def _is_hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _counts_on(obj: Object, node_name: str) -> bool:
    """Whether an object is there when all pods leave all nodes but one."""
    return not isinstance(obj, Pod) or obj.node_name == node_name


class _Waiting:
    """A queued pod."""

    def __init__(self, waiting: Pod) -> None:
        self.pod = waiting
        self.timestamp = 0.0


def _indexes(size: int) -> Iterator[NDArray[np.intp]]:
    """Some ways to pick worlds: backwards, every other one, each alone, none, twice the same."""
    every = np.arange(size)
    yield every[::-1]
    yield every[::2]
    for k in range(size):
        yield every[k : k + 1]
    yield every[:0]
    yield np.repeat(every[:1], 2)

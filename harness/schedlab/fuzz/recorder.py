"""Plays a plan against a running kube-scheduler in lock-step and writes down what it decided.

Each pod arrives only when the scheduler is known to hold the state. Pods of all sorts come to it over one
watch and through one handler, in order, so whatever was acknowledged before the next pod is created is known
when that one is tried; nodes come over another watch, and their log lines are the barrier. The kinds that
plugins only read from listers (services, owners, budgets, namespaces, storage) leave no line: they are
written first, and given `SETTLE` seconds more once the nodes, written later, have come. Follows upstream
pkg/scheduler/eventhandlers.go (1.36).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from schedlab import timing
from schedlab.api.objects import Object
from schedlab.decisions import logbook, reference
from schedlab.decisions.corpus import Case, Identity, Step, apply, identity, trimmed
from schedlab.decisions.decision import Decision, Unobserved
from schedlab.decisions.logbook import Attempt, Tail
from schedlab.decisions.reference import Deeds, key_of, scheduled_condition
from schedlab.decisions.tap import Tap, TappedCandidate
from schedlab.errors import SchedlabError
from schedlab.fuzz.plan import Plan
from schedlab.fuzz.replant import creatable
from schedlab.fuzz.world import World, by_kind

#: Seconds between the scheduler's line about the last node and the first decision, for kinds without a line.
SETTLE = 0.05
#: Seconds to wait at the end of a case for events that have not come.
EVENTS = 2.0
#: Pods that get bound in a timed case have started at this moment or later, one second apart.
FIRST_START = datetime(2025, 1, 1, tzinfo=UTC)
_BARRIERED = frozenset({"Node", "Pod"})
State = dict[Identity, Object]


class Recorder:
    """One kube-scheduler, watched from three sides, and the world it schedules in."""

    def __init__(
        self, world: World, tail: Tail, tap: Tap | None, scheduler: str, config: Object | None = None
    ) -> None:
        self.config = config or {}
        self._world = world
        self._tail = tail
        self._tap = tap
        self._scheduler = scheduler

    async def play(self, plan: Plan, course: Sequence[Step] = ()) -> Case:
        """Lay out the plan's objects, let its pods arrive, and clear the world again.

        With a `course`, the decisions of another scheduler, the objects are laid out one by one in their
        order, and the state is kept on that course: a pod that was bound elsewhere is put where the course
        has it. The case ends where that cannot be done, with preemptions that differ.

        Raises:
            ApiError: the API refused an object of the plan.
            SchedlabError: the scheduler did not decide in time.
        """
        try:
            objects = await self._lay(plan, one_by_one=bool(course))
            steps = await self._arrivals(plan, {identity(obj): obj for obj in objects}, course)
        finally:
            await self._clear(plan)
        return Case(
            reference=self._scheduler,
            objects=tuple(objects),
            steps=tuple(steps),
            seed=plan.seed,
            features=plan.features,
            source=plan.source,
            config=self.config,
        )

    async def _lay(self, plan: Plan, *, one_by_one: bool = False) -> list[Object]:
        """Bring the initial objects about; as stored, in the order in which the scheduler met them."""
        kinds = by_kind(plan.objects)
        nodes, pods = kinds.get("Node", []), kinds.get("Pod", [])
        others = [obj for obj in plan.objects if obj["kind"] not in _BARRIERED]
        laid = await self._world.create_all(kinds.get("Namespace", []))
        laid += await self._world.create_all([obj for obj in others if obj["kind"] != "Namespace"])
        known = self._expect(logbook.NODE_ADDED, _names(nodes))
        if one_by_one:
            laid += [await self._world.create(node) for node in nodes]
            made = [await self._world.create(pod) for pod in pods]
        else:
            laid += await self._world.create_all(nodes)
            made = await self._world.create_all(pods)
        await self._tail.until(known, "every node in the scheduler's cache")
        await self._tail.until(lambda: all(map(self._world.seen, made)), "every pod on our own watch")
        if others:
            await timing.sleep(SETTLE)
        laid += made
        self._world.forget_changes()
        return [trimmed(obj) for obj in laid]

    async def _arrivals(self, plan: Plan, state: State, course: Sequence[Step]) -> list[Step]:
        steps: list[Step] = []
        leaving: list[Object] = []
        for index, pod in enumerate(plan.arrivals):
            arrived = await self._arrive(pod, leaving)
            attempt = await self._decided(arrived)
            since = self._world.changes_before(arrived["metadata"]["uid"])
            if steps:
                steps[-1] = Step(steps[-1].pod, steps[-1].decision, since)
            for change in since:
                apply(state, change)
            decided = await self._decision(arrived, attempt, state)
            steps.append(Step(trimmed(arrived), decided))
            if course:
                if index + 1 >= len(course) or _parted(decided, course[index].decision):
                    break
                wanted = course[index].decision
                steered = await self._steer(arrived, decided, wanted)
                leaving = await self._tidy(steered, wanted, plan, index) if steered else []
                continue
            leaving = await self._tidy(arrived, decided, plan, index)
            if plan.until_eviction and decided.preempts:
                break
        return await self._with_events(steps)

    async def _with_events(self, steps: list[Step]) -> list[Step]:
        """Add what events said; they are written on the side, so one may come late, or never."""
        uids = [step.pod["metadata"]["uid"] for step in steps if step.decision.result != "Gated"]
        with contextlib.suppress(SchedlabError):
            await self._tail.until(
                lambda: all(self._world.note(uid) is not None for uid in uids), "every event", within=EVENTS
            )
        return [replace(step, decision=self._noted(step)) for step in steps]

    def _noted(self, step: Step) -> Decision:
        note = self._world.note(step.pod["metadata"]["uid"])
        return step.decision if note is None else replace(step.decision, event=note)

    async def _arrive(self, pod: Object, leaving: Iterable[Object]) -> Object:
        """Create the next pod while the last one goes: it was promised nothing, so it counts for nobody."""
        going = asyncio.gather(*map(self._world.delete, leaving))
        arrived, _ = await asyncio.gather(self._world.create(pod), going)
        return arrived

    async def _decided(self, arrived: Object) -> Attempt | None:
        """Wait until log and API both show what became of the pod; None if it was put aside, being gated."""
        uid, key, book = arrived["metadata"]["uid"], key_of(arrived), self._tail.book

        def attempt() -> Attempt | None:
            return book.attempts(key)[-1] if book.attempts(key) else None

        def tried() -> bool:
            last = attempt()
            return book.gated[key] > 0 if last is None else last.end is not None

        def shown() -> bool:
            pod, last = self._world.pod(uid), attempt()
            if pod is None:
                return False
            if last is not None and last.end == "Scheduled":
                return bool(pod["spec"].get("nodeName"))
            condition = scheduled_condition(pod)
            return condition is not None and (last is None or condition.get("reason") != "SchedulingGated")

        await self._tail.until(tried, f"the end of the attempt to schedule {key}")
        await self._tail.until(shown, f"the decision about {key} in the API")
        return attempt()

    async def _decision(self, arrived: Object, attempt: Attempt | None, state: State) -> Decision:
        """What was decided, once its consequences have been seen, too."""
        uid, key = arrived["metadata"]["uid"], key_of(arrived)
        after = self._world.pod(uid) or {}
        tapped = self._tap.heard(uid) if self._tap else None
        names = {obj["metadata"].get("uid", ""): key_of(obj) for obj in state.values()}
        deleted: frozenset[str] = frozenset()
        nominated = after.get("status", {}).get("nominatedNodeName")
        if nominated and tapped and tapped.candidates:
            deleted = await self._evictions(key, tapped.candidates[-1][nominated], state)
        if self._tap:
            self._tap.forget(uid)
        return reference.decision(attempt, tapped, Deeds(after, deleted), names)

    async def _evictions(self, key: str, chosen: TappedCandidate, state: State) -> frozenset[str]:
        """Wait until the victims of a preemption are leaving; the keys of those that were not already."""
        doomed = {
            obj["metadata"]["uid"]: key_of(obj)
            for obj in state.values()
            if obj["metadata"].get("uid") in chosen.victims and "deletionTimestamp" not in obj["metadata"]
        }
        if not doomed:
            return frozenset()

        def leaving() -> bool:
            victims = [self._world.pod(uid) for uid in doomed]
            gone = all(pod is None or "deletionTimestamp" in pod["metadata"] for pod in victims)
            return gone and self._tail.book.preempted[key] > 0

        await self._tail.until(leaving, f"the end of the preemption for {key}")
        return frozenset(doomed.values())

    async def _steer(self, pod: Object, decided: Decision, wanted: Decision) -> Object | None:
        """Put a pod where the course has it; the pod as it then is, None if it had to go."""
        if decided.node == wanted.node:
            return pod
        await self._world.delete(pod)
        if not isinstance(wanted.node, str):
            return None
        bound = creatable(pod)
        bound["spec"]["nodeName"] = wanted.node
        return await self._world.create(bound)

    async def _tidy(self, pod: Object, decided: Decision, plan: Plan, index: int) -> list[Object]:
        """Do what a kubelet or an owner would have done; the pods that may go while the next one comes."""
        if isinstance(decided.node, str):
            if plan.timed:
                started = (FIRST_START + timedelta(seconds=index)).strftime("%Y-%m-%dT%H:%M:%SZ")
                await self._world.patch(pod, {"status": {"startTime": started}}, subresource="status")
            return []
        if not decided.preempts:
            return [pod]
        if not plan.keep_nominated:
            await self._world.delete(pod)
        return []

    async def _clear(self, plan: Plan) -> None:
        """Empty the world and wait until the scheduler has noticed."""
        nodes = [obj for obj in plan.objects if obj["kind"] == "Node"]
        book = self._tail.book
        self._tail.pump()
        known = [name for name in _names(nodes) if _present(book, name)]
        noticed = self._expect(logbook.NODE_DELETED, known)
        await self._world.clear()
        await self._tail.until(lambda: self._world.is_empty, "the end of every pod on our own watch")
        await self._tail.until(noticed, "the end of every node in the scheduler's cache")
        book.forget_pods()
        self._world.forget_changes()

    def _expect(self, message: str, names: Iterable[str]) -> Callable[[], bool]:
        """A condition that holds once the log has shown `message` once more for each name."""
        seen = self._tail.book.deliveries
        before = {name: seen[message, name] for name in names}
        return lambda: all(seen[message, name] > count for name, count in before.items())


def _parted(decided: Decision, wanted: Decision) -> bool:
    """True if what one of two preemptions has done cannot be made of what the other has done."""
    if not decided.preempts and not wanted.preempts:
        return False
    return _deeds(decided) != _deeds(wanted)


def _deeds(decision: Decision) -> object:
    found = decision.preemption
    return None if isinstance(found, Unobserved) else (found.nominated, found.deleted)


def _names(objects: Iterable[Object]) -> Iterator[str]:
    return (obj["metadata"]["name"] for obj in objects)


def _present(book: logbook.Logbook, name: str) -> bool:
    return book.deliveries[logbook.NODE_ADDED, name] > book.deliveries[logbook.NODE_DELETED, name]

"""Reserve, Permit, PreBind, Bind and PostBind."""

from __future__ import annotations

import asyncio

import pytest
from fakes import Binder, attempt, plugin, profile

from kubesched.framework import SKIP, PluginError, PreFlight, Status, error, unschedulable
from kubesched.framework.binding_points import PreFlights
from kubesched.framework.status import Code
from kubesched.framework.waiting_pods import go_duration
from kubesched.testing.builders import cluster, pod

WAIT = Status(Code.Wait, ("hold on",))


class Reserving:
    answer = None
    log = None

    def reserve(self, cycle, node_name):
        self.log.append(f"+{self.name}")
        return self.answer

    def unreserve(self, cycle, node_name):
        self.log.append(f"-{self.name}")


class Permitting:
    answer = (None, 0.0)

    def permit(self, cycle, node_name):
        return self.answer


class PreBinding:
    flight = PreFlight()
    answer = None
    log = None

    def pre_bind_pre_flight(self, cycle, node_name):
        return self.flight

    async def pre_bind(self, cycle, node_name):
        self.log.append(f"{self.name} begins")
        await asyncio.sleep(0)  # noqa: TID251 - lets a parallel plugin begin
        self.log.append(f"{self.name} ends")
        return self.answer


def cycle_of(framework):
    return attempt(framework, pod("p"), cluster())


def test_reserve_in_order_and_unreserve_in_reverse():
    """The first failure ends Reserve; Unreserve visits every plugin, last first."""
    log = []
    plugins = [plugin(Reserving, name, log=log) for name in ("A", "B", "C")]
    plugins[1].answer = unschedulable("full")
    framework = profile(*plugins)
    assert framework.run_reserve(cycle_of(framework), "n") == unschedulable("full").by("B")
    framework.run_unreserve(cycle_of(framework), "n")
    assert log == ["+A", "+B", "-C", "-B", "-A"]


def test_reserve_error_names_the_plugin():
    """An Error is told with the point and the plugin."""
    framework = profile(plugin(Reserving, "A", log=[], answer=error("broken")))
    assert framework.run_reserve(cycle_of(framework), "n").message == 'running Reserve plugin "A": broken'


@pytest.mark.parametrize(
    ("answers", "code", "waits"),
    [
        pytest.param([(None, 0)], None, {}, id="approved"),
        pytest.param([(WAIT, 3.0), (None, 0)], Code.Wait, {"P0": 3.0}, id="one asks to wait"),
        pytest.param(
            [(WAIT, 3.0), (WAIT, 5000.0)], Code.Wait, {"P0": 3.0, "P1": 900.0}, id="no wait beyond 15 minutes"
        ),
        pytest.param(
            [(WAIT, 3.0), (unschedulable("no"), 0)], Code.Unschedulable, {}, id="a denial beats a wait"
        ),
        pytest.param([(error("x"), 0), (WAIT, 1.0)], Code.Error, {}, id="an error ends it"),
    ],
)
def test_permit(answers, code, waits):
    """A denial or an error ends Permit; otherwise waits are collected."""
    framework = profile(*(plugin(Permitting, f"P{i}", answer=answer) for i, answer in enumerate(answers)))
    status, seconds = framework.run_permit(cycle_of(framework), "n")
    assert (status.code if status else None) is code
    assert seconds == waits


def test_an_answer_of_permit_that_is_no_pair_is_the_plugins_error():
    """It is told with the point and the plugin, and the caller can undo what was reserved."""
    framework = profile(plugin(Permitting, "P", answer=None))
    with pytest.raises(PluginError, match=r'^running Permit plugin "P": cannot unpack'):
        framework.run_permit(cycle_of(framework), "n")


async def waiting(framework, waits):
    cycle = cycle_of(framework)
    framework.add_waiting_pod(cycle, waits)
    task = asyncio.ensure_future(framework.wait_on_permit(cycle))
    await asyncio.sleep(0)  # noqa: TID251 - lets the wait begin
    return task, framework.waiting_pods.get("uid-p")


async def test_a_pod_that_does_not_wait_passes_at_once():
    """Only waiting pods are held."""
    framework = profile()
    assert await framework.wait_on_permit(cycle_of(framework)) is None


async def test_all_plugins_must_allow():
    """The last one to allow releases the pod, and it is no longer waiting."""
    framework = profile()
    task, found = await waiting(framework, {"A": 10.0, "B": 10.0})
    found.allow("A")
    assert found.pending_plugins == ["B"]
    found.allow("B")
    assert await task is None
    assert framework.waiting_pods.get("uid-p") is None


async def test_one_rejection_is_enough_and_only_the_first_counts():
    """Whoever is later learns so."""
    task, found = await waiting(profile(), {"A": 10.0})
    assert found.reject("A", "too late")
    assert not found.reject("B", "again")
    assert await task == Status(Code.Unschedulable, ("too late",), "A")


async def test_the_shortest_timeout_rejects():
    """A plugin that does not answer in its time is named with the time, as Go prints it."""
    framework = profile()
    task, _ = await waiting(framework, {"A": 90.0, "B": 10.0})
    framework.clock.advance(10.0)
    status = await task
    assert status.message == "rejected due to timeout after waiting 10s at plugin B"


async def test_an_allowed_plugin_no_longer_times_out():
    """Only the plugins that have not allowed count their time."""
    framework = profile()
    task, found = await waiting(framework, {"A": 90.0, "B": 10.0})
    found.allow("B")
    framework.clock.advance(10.0)
    await asyncio.sleep(0)  # noqa: TID251 - lets the timer look
    assert not task.done()
    framework.clock.advance(80.0)
    assert (await task).message == "rejected due to timeout after waiting 1m30s at plugin A"


async def test_preempting_a_waiting_pod_is_no_rejection():
    """The pod is tried again soon, nobody is to blame."""
    task, found = await waiting(profile(), {"A": 10.0})
    assert found.preempt("DefaultPreemption", "preempted")
    status = await task
    assert status == error("waiting on permit for pod: preempted").by("DefaultPreemption")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.1, "100ms"), (0, "0s"), (1.5, "1.5s"), (60, "1m0s"), (3600, "1h0m0s"), (3725, "1h2m5s")],
)
def test_durations_read_as_in_go(seconds, text):
    """Messages carry durations in Go's notation."""
    assert go_duration(seconds) == text


async def test_pre_bind_runs_parallel_neighbours_together():
    """Neighbouring parallel plugins run side by side, others alone; a skipped one not at all."""
    log = []
    flights = {
        "A": PreFlight(parallel=True),
        "B": PreFlight(parallel=True),
        "C": PreFlight(),
        "D": SKIP,
    }
    framework = profile(*(plugin(PreBinding, name, log=log, flight=f) for name, f in flights.items()))
    cycle = cycle_of(framework)
    announced = framework.run_pre_bind_pre_flights(cycle, "n")
    assert announced.status is None
    assert await framework.run_pre_bind(cycle, "n", announced) is None
    assert log[:2] == ["A begins", "B begins"]
    assert log[4:] == ["C begins", "C ends"]


@pytest.mark.parametrize(
    "failure", [error("no volume"), ZeroDivisionError("no volume")], ids=["status", "raised"]
)
async def test_a_failing_pre_bind_stops_its_parallel_neighbours(failure):
    """When PreBind has failed, nothing of it is left running, and the later plugins never begin."""
    log = []

    class Slow(PreBinding):
        async def pre_bind(self, cycle, node_name):
            try:
                await asyncio.Event().wait()
            finally:
                log.append("slow was stopped")

    class Failing(PreBinding):
        async def pre_bind(self, cycle, node_name):
            if isinstance(failure, Exception):
                raise failure
            return failure

    together = PreFlight(parallel=True)
    kinds = {"Slow": (Slow, together), "Failing": (Failing, together), "Later": (PreBinding, PreFlight())}
    framework = profile(
        *(plugin(kind, name, log=log, flight=flight) for name, (kind, flight) in kinds.items())
    )
    cycle = cycle_of(framework)
    announced = framework.run_pre_bind_pre_flights(cycle, "n")
    text = 'running PreBind plugin "Failing": no volume'
    if isinstance(failure, Exception):
        with pytest.raises(PluginError, match=text):
            await framework.run_pre_bind(cycle, "n", announced)
    else:
        assert await framework.run_pre_bind(cycle, "n", announced) == error(text).by("Failing")
    assert log == ["slow was stopped"]


async def test_what_goes_wrong_after_the_fact_is_only_logged(caplog):
    """Unreserve and PostBind cannot fail a pod; the other plugins are still asked."""
    log = []

    class Breaking(Reserving):
        def unreserve(self, cycle, node_name):
            raise KeyError("never reserved")

        async def post_bind(self, cycle, node_name):
            raise KeyError("never bound")

    class Hearing(Reserving):
        async def post_bind(self, cycle, node_name):
            log.append("bound")

    framework = profile(plugin(Hearing, "A", log=log), plugin(Breaking, "B"), plugin(Hearing, "C", log=log))
    framework.run_unreserve(cycle_of(framework), "n")
    await framework.run_post_bind(cycle_of(framework), "n")
    assert log == ["-C", "-A", "bound", "bound"]
    assert "Unreserve plugin failed" in caplog.text
    assert "PostBind plugin failed" in caplog.text


@pytest.mark.parametrize(
    ("flights", "code"),
    [
        pytest.param([SKIP, SKIP], Code.Skip, id="nobody has work"),
        pytest.param([SKIP, PreFlight()], None, id="somebody has"),
        pytest.param([error("x")], Code.Error, id="an error"),
        pytest.param([unschedulable("x")], Code.Error, id="a rejection is not allowed here"),
    ],
)
def test_pre_flights(flights, code):
    """Pre-flight says whether PreBind has anything to do."""
    framework = profile(*(plugin(PreBinding, f"P{i}", log=[], flight=f) for i, f in enumerate(flights)))
    status = framework.run_pre_bind_pre_flights(cycle_of(framework), "n").status
    assert (status.code if status else None) is code


def test_without_the_gate_every_pre_bind_plugin_works_unasked():
    """NominatedNodeNameForExpectation brought the question; without it nobody is asked."""
    asked = plugin(PreBinding, "Asked", log=[], flight=error("was asked"))
    framework = profile(asked, gates={"NominatedNodeNameForExpectation": False})
    assert framework.run_pre_bind_pre_flights(cycle_of(framework), "n") == PreFlights(None)


class Binding(Binder):
    answer = None

    async def bind(self, cycle, node_name):
        return self.answer


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        pytest.param([SKIP, None, error("x")], None, id="the first that does not skip has the say"),
        pytest.param([error("refused")], error('running Bind plugin "B0": refused').by("B0"), id="an error"),
        pytest.param([unschedulable("no")], unschedulable("no").by("B0"), id="a rejection"),
        pytest.param([SKIP], SKIP, id="nobody binds"),
    ],
)
async def test_bind(answers, expected):
    """Bind plugins are asked in order."""
    framework = profile(*(plugin(Binding, f"B{i}", answer=answer) for i, answer in enumerate(answers)))
    framework.binds = framework.binds[:-1]
    assert await framework.run_bind(cycle_of(framework), "n") == expected


def test_a_prebinding_pod_can_be_cancelled_until_it_is_through():
    """Either the cancellation or the end of PreBind comes first."""
    told = []
    pods = profile().prebinding_pods
    window = pods.add("u", told.append)
    assert window.cancel("preempted")
    assert window.cancel("again")
    assert told == ["preempted"]
    assert not window.finish()
    second = pods.add("v", told.append)
    assert second.finish()
    assert not second.cancel("too late")

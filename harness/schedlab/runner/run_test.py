"""One test on one station, from an empty namespace to an empty cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from schedlab import timing
from schedlab.api.errors import ApiError
from schedlab.cluster.layout import SCHEDULER
from schedlab.history.audit import AuditLog
from schedlab.history.directory import RunDirectory
from schedlab.history.history import History
from schedlab.history.refusals import refusals
from schedlab.kubelet.admission import NAMESPACE_LABELS
from schedlab.kubelet.configuration import configure
from schedlab.kubelet.kubelets import Kubelets
from schedlab.runner import isolation
from schedlab.runner.environment import Environment
from schedlab.runner.execution import DEFAULTS, UNHURRIED, Execution, Pace, SchedulerGone, of_kind
from schedlab.runner.replicas import Replicas
from schedlab.runner.result import Failure, Result, Verdict
from schedlab.runner.station import Setup, Station
from schedlab.suite.plan import Test

_LONGEST_NAME = 63


def _silent(_text: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class Order:
    """What to run and how."""

    test: Test
    directory: Path
    disabled: tuple[str, ...] = ()
    mutation: str = ""
    allow_scripts: bool = False
    pace: Pace = UNHURRIED
    progress: Callable[[str], None] = _silent

    @property
    def setup(self) -> Setup:
        """How the scheduler must run."""
        needs = self.test.spec.scheduler
        return Setup(
            config=needs.config,
            flags=tuple(needs.flags),
            disabled=self.disabled,
            extenders=tuple(needs.extenders or ()),
            proxy=needs.proxy,
        )


async def run_test(station: Station, order: Order) -> Result:
    """The result of one test; only a failure of the environment itself raises.

    Raises:
        EnvironmentStartError: the scheduler does not start.
    """
    test = order.test
    required = {*test.spec.requires, *(["component-flags"] if test.spec.control_plane else [])}
    missing = sorted(required - station.control_plane.provides)
    if missing:
        return _result(
            order, station, "inconclusive", reason=f"the backend does not provide {', '.join(missing)}"
        )
    order.progress("starting the scheduler")
    scheduler = await station.prepare(order.setup)
    about = {
        "test": test.id,
        "path": str(test.path),
        "description": " ".join(test.spec.description.split()),
        "scheduler": station.spec.name,
        "config": scheduler.config,
    }
    directory = RunDirectory(order.directory, about)
    audit = AuditLog(station.control_plane.audit_log)
    log_start = scheduler.log.stat().st_size
    history = station.recorder.begin(directory, audit)
    logs = [scheduler.log]
    replicas = Replicas(
        station, order.setup, scheduler, history, kept=lambda replica: logs.append(replica.log)
    )
    started = timing.monotonic()
    try:
        result = await _judged(station, order, replicas, history)
    finally:
        await replicas.close()
        directory.keep_log(scheduler.spec.name, scheduler.log, log_start)
        for log in logs[1:]:
            directory.keep_log(log.stem, log, 0)
        directory.keep_audit(audit)
        directory.close()
    result = _within_its_rights(station, result)
    result = msgspec.structs.replace(result, seconds=round(timing.monotonic() - started, 3))
    (order.directory / "result.json").write_bytes(msgspec.json.format(msgspec.json.encode(result)))
    return result


def _within_its_rights(station: Station, result: Result) -> Result:
    """A test does not pass if the scheduler asked for something that its role forbids, starting included."""
    log, start = station.control_plane.audit_log, station.audited
    station.audited = log.stat().st_size if log.exists() else 0
    found = refusals(log, start, SCHEDULER)
    if not found or result.verdict != "pass":
        return result
    reason = f"the scheduler was forbidden what it asked for: {', '.join(found)}"
    return msgspec.structs.replace(result, verdict="fail", reason=reason)


async def _judged(station: Station, order: Order, replicas: Replicas, history: History) -> Result:
    """Run the steps, undo everything, and say what that means."""
    began = timing.now()
    namespace = await _namespace(station, order.test)
    kubelets = await _kubelets(station, order.test, history, namespace)
    env = Environment(
        station,
        order.test,
        history,
        namespace,
        order.directory,
        replicas=replicas,
        kubelets=kubelets,
        allow_scripts=order.allow_scripts,
    )
    execution = Execution(order.test, env, replicas, order.pace, order.progress)
    gone = ""
    station.spoilt = f"{order.test.id} was interrupted"
    try:
        await execution.steps()
        await execution.cleanups()
    except SchedulerGone as error:
        gone = error.message
    finally:
        await env.kubectl.close()
        if kubelets is not None and (broken := await kubelets.close()) is not None:
            gone = gone or f"a kubelet broke down: {broken}"
    leftovers = await _clean(station, order, env, namespace)
    station.spoilt = _spoilt(order.test, env, leftovers, isolation.changes(history, began))
    verdict, reason = _verdict(station, execution.failure, gone, leftovers)
    return _result(
        order,
        station,
        verdict,
        reason=reason,
        failure=execution.failure,
        operations=tuple(execution.records),
        notes=tuple(env.notes)
        + tuple(f"gap in the watch of {gap.kind}: {gap.reason}" for gap in history.gaps),
        leftovers=tuple(leftovers),
    )


def _spoilt(test: Test, env: Environment, leftovers: list[str], changed: list[str]) -> str:
    """Why no further test may run here, if so."""
    if changed:
        env.note("changed in the cluster as a whole: " + ", ".join(changed))
    left = leftovers + changed
    return f"{test.id} left {', '.join(left)}" if left else ""


def _verdict(
    station: Station, failure: Failure | None, gone: str, leftovers: list[str]
) -> tuple[Verdict, str]:
    watcher = station.recorder.failed()
    if gone:
        return "inconclusive", gone
    if watcher is not None:
        return "inconclusive", f"the record is incomplete, a watch ended: {watcher}"
    if failure is not None:
        return "fail", failure.message
    if leftovers:
        return "fail", f"left behind: {', '.join(leftovers)}"
    return "pass", ""


async def _kubelets(station: Station, test: Test, history: History, namespace: str) -> Kubelets | None:
    """The test's kubelets, started, if it has any.

    Raises:
        EnvironmentStartError: the API server does not allow what they need.
    """
    if test.spec.kubelet is None:
        return None
    kubelets = Kubelets(station.client, history, configure(test.spec.kubelet))
    await kubelets.start(namespace)
    return kubelets


async def _namespace(station: Station, test: Test) -> str:
    """A new namespace; numbered, since the one before may still be going."""
    station.tests += 1
    suffix = f"-{station.tests}"
    name = test.name[: _LONGEST_NAME - len(suffix)].rstrip("-") + suffix
    labels = {"schedlab/test": test.name, **(NAMESPACE_LABELS if test.spec.kubelet is not None else {})}
    body = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": labels},
    }
    await station.client.request("POST", "/api/v1/namespaces", body=body)
    return name


async def _clean(station: Station, order: Order, env: Environment, namespace: str) -> list[str]:
    """Undo the test; what is left spoils the station, so that no later test meets it.

    The namespace goes by itself some seconds later; by then nothing is in it.
    """
    order.progress("cleaning up")
    given = of_kind(order.test.spec.timeouts, "cleanup")
    deadline = timing.Deadline.after(timing.parse_duration(given) if given else DEFAULTS["cleanup"])
    try:
        leftovers = await env.writer.undo(deadline)
        leftovers += await _clear_pods(station, namespace, deadline)
        await station.client.request("DELETE", f"/api/v1/namespaces/{namespace}")
    except ApiError as error:
        leftovers = [f"the clean-up failed: {error.message}"]
    return leftovers


async def _clear_pods(station: Station, namespace: str, deadline: timing.Deadline) -> list[str]:
    """Delete the pods that controllers have made."""

    def present() -> list[str]:
        return [pod["metadata"]["name"] for pod in station.recorder.history.current.list("Pod", namespace)]

    async def none_left() -> bool | None:
        return None if present() else True

    if present():
        await station.client.request(
            "DELETE", f"/api/v1/namespaces/{namespace}/pods", body={"gracePeriodSeconds": 0}
        )
        await timing.poll(none_left, deadline)
    return [f"Pod {namespace}/{name}" for name in present()]


def _result(order: Order, station: Station, verdict: Verdict, **more: object) -> Result:
    return msgspec.structs.replace(
        Result(
            test=order.test.id,
            path=str(order.test.path),
            scheduler=station.spec.name,
            verdict=verdict,
            artifacts=str(order.directory),
            mutation=order.mutation,
        ),
        **more,
    )

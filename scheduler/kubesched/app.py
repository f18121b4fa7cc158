"""One scheduler process: set up from flags, run until told to stop, and leave with upstream's exit code.

Order matters at both ends. Starting: configuration, then the secure port (so that probes are answered), then
the watches, then leadership, then scheduling. Stopping: no new attempts, let bindings end, write what they
lead to, release the lease, close. Follows `Run` in `cmd/kube-scheduler/app/server.go`.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from kubesched import logs, pod_resources, process_metrics
from kubesched.api.objects import Pod
from kubesched.client.events import EventRecorder
from kubesched.client.intake import Intake
from kubesched.client.kubeconfig import Endpoint, KubeconfigError, resolve
from kubesched.client.lanes import Lanes
from kubesched.client.pods import PodWriter
from kubesched.client.reflector import Reflector
from kubesched.client.resources import WATCHED, Resource
from kubesched.client.rest import RestClient
from kubesched.client.statuses import StatusPatches
from kubesched.client.volumes import VolumeWriter
from kubesched.clock import Clock, SystemClock
from kubesched.config.extended import as_run
from kubesched.config.flags import ALL
from kubesched.config.flagset import Flags
from kubesched.config.gates import FeatureGateError
from kubesched.config.load import dumps
from kubesched.config.options import Options
from kubesched.config.options import resolve as resolve_options
from kubesched.config.problems import ConfigError, OptionsError, failed_to_open
from kubesched.core import CoreOptions, build_core
from kubesched.election_metrics import ElectionMetrics
from kubesched.extender import HttpExtender, build_extenders
from kubesched.framework.registry import Registry
from kubesched.leading import Leading
from kubesched.metrics import Metrics
from kubesched.plugins.registry import registry
from kubesched.rest_metrics import RestMetrics
from kubesched.schedule_one import Core
from kubesched.scheduler import Api, Scheduler
from kubesched.serving.port import SecurePort, ServingError

_log = logs.get(__name__)

VERSION = "v1.36.3"
USER_AGENT = f"kubesched/{VERSION} scheduler"
# Most objects live long or die by reference count: look for cycles far less often than by default.
_GC_THRESHOLDS = (50_000, 20, 100)
# Seconds for bindings under way when asked to stop.
GRACE = 5.0


class StartupError(Exception):
    """The process cannot start; the text says why."""


@dataclass(slots=True)
class App:
    """A process that is ready to run."""

    options: Options
    registry: Registry
    endpoint: Endpoint
    clock: Clock
    rng: Random
    extenders: tuple[HttpExtender, ...] = ()


def setup(flags: Flags) -> App | None:
    """Check everything that can be checked without the API server; None when there was only a file to write.

    Raises StartupError.
    """
    clock = SystemClock()
    try:
        known = registry()
        options = resolve_options(flags, known.names, known.args_type)
        _say(options)
        if path := flags.text("write-config-to"):
            Path(path).write_text(dumps(as_run(options.config)))
            _log.info("Wrote configuration", file=path)
            return None
        connection = options.config.client_connection
        endpoint = resolve(connection.kubeconfig, flags.text("master"), clock, os.environ)
        build_core(CoreOptions(options.config, options.gates, known), clock, Random(0))  # noqa: S311
        extenders = build_extenders(options.config)
    except OSError as error:
        raise StartupError(failed_to_open(error)) from error
    except (ConfigError, FeatureGateError, OptionsError, KubeconfigError, ValueError) as error:
        raise StartupError(str(error)) from error
    return App(options, known, endpoint, clock, Random(), extenders)  # noqa: S311 - ties between nodes, no secret


def serve(app: App) -> int:
    """Run the scheduler; the process's exit code."""
    try:
        import uvloop  # noqa: PLC0415 - absent on some platforms

        factory: Callable[[], asyncio.AbstractEventLoop] | None = uvloop.new_event_loop
    except ImportError:
        factory = None
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(Process(app).run())


@dataclass(slots=True)
class _Parts:
    """What a running process is made of."""

    client: RestClient
    lanes: Lanes
    metrics: Metrics
    intake: Intake
    api: Api
    core: Core
    scheduler: Scheduler
    port: SecurePort
    reflectors: list[Reflector]
    leading: Leading | None


class Process:
    """The running process: its tasks and how they end."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._stop = asyncio.Event()
        self._synced = asyncio.Event()
        self._background: list[asyncio.Task[None]] = []

    async def run(self) -> int:
        """Run until a signal, a lost lease or a failure; the exit code."""
        _log.info("Starting Kubernetes Scheduler", version=VERSION)
        parts = self._parts()
        self._on_signals(parts)
        self._background += [
            asyncio.create_task(work) for work in (parts.api.statuses.run(), parts.api.events.run())
        ]
        try:
            await parts.port.start()
            return await self._until_stopped(parts)
        except (OSError, ServingError) as error:
            _log.error("command failed", error)
            return 1
        finally:
            for task in self._background:
                task.cancel()
            await asyncio.gather(*self._background, return_exceptions=True)
            await parts.port.stop()
            await parts.client.close()
            for extender in self._app.extenders:
                await extender.close()

    def _parts(self) -> _Parts:
        app, clock, rng = self._app, self._app.clock, self._app.rng
        config, flags = app.options.config, app.options.flags
        connection = config.client_connection
        lease_timeout = config.leader_election.renew_deadline / 2
        lanes = Lanes(clock, qps=connection.qps, burst=connection.burst, lease_timeout=lease_timeout)
        metrics, intake = Metrics(), Intake(clock)
        rest = RestMetrics(metrics.registry)
        traffic = rest.of(app.endpoint.server)
        client = RestClient(app.endpoint, clock, user_agent=USER_AGENT, traffic=traffic)
        writer = PodWriter(client, lanes, clock, rng)
        api = Api(writer, StatusPatches(writer), EventRecorder(client, lanes.event, clock, rng))
        core_options = CoreOptions(
            config,
            app.options.gates,
            app.registry,
            max_in_unschedulable=flags.number("pod-max-in-unschedulable-pods-duration"),
            writer=writer,
            volume_writer=VolumeWriter(client, lanes),
            on_move=metrics.moved,
            on_hint=metrics.hinted,
            on_preemption=metrics.preemption_attempts.inc,
            measure=metrics,
            extenders=app.extenders,
        )
        core = build_core(core_options, clock, rng)
        metrics.watch(lambda: core)
        reflectors = self._reflectors(client, lanes, intake)
        leading = self._leading(client, lanes)
        return _Parts(
            client=client,
            lanes=lanes,
            metrics=metrics,
            intake=intake,
            api=api,
            core=core,
            scheduler=Scheduler(
                core, intake, api, metrics, may_write=leading.elector.may_write if leading else None
            ),
            port=self._port(metrics, rest, core, lanes, leading),
            reflectors=reflectors,
            leading=leading,
        )

    def _reflectors(self, client: RestClient, lanes: Lanes, intake: Intake) -> list[Reflector]:
        waiting = {resource.kind for resource in WATCHED}

        def synced(resource: Resource) -> None:
            waiting.discard(resource.kind)
            if not waiting:
                self._synced.set()
                intake.wake()

        clock, rng = self._app.clock, self._app.rng
        return [
            Reflector(
                resource,
                client,
                lanes.read,
                intake.put,
                clock=clock,
                rng=rng,
                on_synced=synced,
                whole=bool(self._app.extenders) and resource.kind in {"Pod", "Node"},
            )
            for resource in WATCHED
        ]

    def _leading(self, client: RestClient, lanes: Lanes) -> Leading | None:
        config = self._app.options.config
        if not config.leader_election.leader_elect:
            return None
        component = config.profiles[0].scheduler_name
        clock, rng = self._app.clock, self._app.rng
        leading = Leading(config.leader_election, client, lanes, clock=clock, rng=rng, component=component)
        lanes.guard(leading.elector.may_write)
        return leading

    def _port(
        self, metrics: Metrics, rest: RestMetrics, core: Core, lanes: Lanes, leading: Leading | None
    ) -> SecurePort:
        options = self._app.options
        process_metrics.register(metrics.registry, VERSION, options.gates)
        port = SecurePort(
            options,
            metrics.registry,
            self._app.clock,
            lanes.review,
            VERSION,
            traffic=rest.of,
            pages={"/metrics/resources": pod_resources.page(lambda: _pods(core))},
        )
        if leading is not None:
            metrics.registry.register(ElectionMetrics(leading.elector))
            port.health.extra["leaderElection"] = leading.health
        return port

    async def _stopped(self) -> None:
        await self._stop.wait()

    async def _until_stopped(self, parts: _Parts) -> int:
        """Run the main task until it ends, something it needs ends, or a signal asks to stop."""
        main = asyncio.create_task(self._main(parts))
        stop = asyncio.create_task(self._stopped())
        try:
            done: set[asyncio.Task[None]] = set()
            while not done:
                # Once a second, since watching may add to what runs in the background.
                done, _ = await asyncio.wait(
                    {main, stop, *self._background}, timeout=1.0, return_when=asyncio.FIRST_COMPLETED
                )
            for task in done - {stop}:
                if error := task.exception():
                    _log.error("command failed", error, kind=type(error).__name__)
        finally:
            parts.port.health.shutting_down = True
            for task in (main, stop):
                task.cancel()
            await asyncio.gather(main, stop, return_exceptions=True)
        stopped = stop in done
        if stopped:
            _log.info("Requested to terminate, exiting")
            await parts.api.events.flush(1.0)
        if parts.leading is not None:
            return 0 if stopped else 1
        _log.error("command failed", "finished without leader elect")
        return 1

    async def _main(self, parts: _Parts) -> None:
        """Keep up with the cluster while waiting for its turn, then schedule for as long as it lasts."""
        delayed = self._app.options.config.delay_cache_until_active and parts.leading is not None
        if not delayed:
            await self._watch(parts)
        follower = asyncio.create_task(self._follow(parts))

        async def lead() -> None:
            if delayed:
                await self._watch(parts)
            follower.cancel()
            await asyncio.gather(follower, return_exceptions=True)
            try:
                await parts.scheduler.run()
            finally:
                await parts.scheduler.drain(GRACE)

        try:
            if parts.leading is None:
                await lead()
            elif not await parts.leading.elector.run(lead):
                _log.error("Leaderelection lost")
        finally:
            follower.cancel()

    async def _watch(self, parts: _Parts) -> None:
        """Start the watches and return when every kind was listed and taken over."""
        self._background += [asyncio.create_task(reflector.run()) for reflector in parts.reflectors]
        while not self._synced.is_set():
            parts.scheduler.absorb()
            await parts.intake.wait(None)
        parts.scheduler.absorb()
        parts.port.health.synced = True
        _log.info("Handlers synced", v=3)
        # What was loaded stays; the collector need not walk it again and again.
        gc.collect()
        gc.freeze()
        gc.set_threshold(*_GC_THRESHOLDS)

    async def _follow(self, parts: _Parts) -> None:
        while True:
            parts.scheduler.absorb()
            await parts.intake.wait(None)

    def _on_signals(self, parts: _Parts) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._asked_to_stop)
        loop.add_signal_handler(signal.SIGUSR2, _compare, parts.core)

    def _asked_to_stop(self) -> None:
        """The first signal asks to finish, the second insists (upstream `SetupSignalHandler`)."""
        if self._stop.is_set():
            os._exit(1)
        self._stop.set()


def _pods(core: Core) -> Iterator[Pod]:
    """Every pod that is known, assigned or not."""
    pending = core.queue.pending()
    yield from core.cluster.pods.by_uid.values()
    for place in ("active", "backoff", "unschedulable", "gated"):
        yield from getattr(pending, place)


def _compare(core: Core) -> None:
    """On SIGUSR2: compare the state with the objects it was made of, and write both down."""
    drifts = core.cluster.audit()
    for drift in drifts:
        _log.error("The state has drifted from its objects", str(drift))
    _log.info("Compared the state with its objects", drifts=len(drifts))
    _log.info("Dump of the state", state=json.dumps(core.cluster.dump(), default=str))
    pending = core.queue.pending()
    places = ("active", "backoff", "unschedulable", "gated", "in_flight")
    _log.info("Dump of the queue", **{place: len(getattr(pending, place)) for place in places})


def _say(options: Options) -> None:
    """Name what was given on the command line and does not count."""
    for name in options.ignored:
        _log.warning("Flag is ignored because --config is given", flag=f"--{name}")
    for flag in ALL:
        if flag.inert and flag.name in options.flags.changed:
            _log.warning("Flag has no effect", flag=f"--{flag.name}", reason=flag.inert)

"""A profile whose extension points are timed, for metrics.

Every attempt costs two looks at the clock per extension point; every tenth also runs with plugins that are
timed one by one. Where nobody measures (explain, simulate) a plain Framework is used, and costs nothing.
Follows upstream `metricsRecorder` and `pluginMetricsSamplePercent` (1.36), where the tenth is drawn by lot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from kubesched.framework.binding_points import PreFlights
from kubesched.framework.failure import PluginError
from kubesched.framework.interface import PreFlight
from kubesched.framework.runtime import Framework, PreFiltered
from kubesched.framework.status import Code, Status
from kubesched.framework.weighted import Weighted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kubesched.framework.alike import Alike
    from kubesched.framework.cycle import Cycle
    from kubesched.framework.diagnosis import Diagnosis
    from kubesched.framework.interface import PostFilterResult
    from kubesched.state.view import View

T = TypeVar("T")

_SAMPLED = 10
"""One attempt in so many is timed plugin by plugin."""


class Measure(Protocol):
    """Hears how long things took, in seconds."""

    def point(self, point: str, status: str, profile: str) -> Callable[[float], None]:
        """What hears of all plugins of an extension point that end with a status."""
        ...

    def plugin(self, plugin: str, point: str, status: str, seconds: float) -> None:
        """One plugin."""
        ...


@dataclass(slots=True)
class MeasuredFramework(Framework):
    """The same answers as a Framework's, timed."""

    measure: Measure = field(kw_only=True)
    sampled: Framework | None = None
    attempts: int = 0
    observers: dict[tuple[str, str], Callable[[float], None]] = field(default_factory=dict)

    def for_attempt(self) -> Framework:
        """The framework of the next attempt: this one, or its copy with timed plugins."""
        self.attempts += 1
        return self.sampled or self if self.attempts % _SAMPLED == 1 else self

    def filtering(self, work: Callable[[], Diagnosis]) -> Diagnosis:
        """All filters on all nodes of an attempt."""
        return self._timed("Filter", work, _success)

    def run_pre_filter(self, cycle: Cycle) -> PreFiltered:
        """See Framework."""
        return self._timed("PreFilter", lambda: Framework.run_pre_filter(self, cycle), _pre_filter_status)

    async def post_filter(self, cycle: Cycle, diagnosis: Diagnosis) -> PostFilterResult:
        """See Framework."""
        started = self.clock.now()
        result = await Framework.post_filter(self, cycle, diagnosis)
        self._tell("PostFilter", name_of(result.status), started)
        return result

    def run_pre_score(self, cycle: Cycle, view: View) -> None:
        """See Framework."""
        self._timed("PreScore", lambda: Framework.run_pre_score(self, cycle, view), _success)

    def run_score(self, cycle: Cycle, view: View) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        """See Framework."""
        return self._timed("Score", lambda: Framework.run_score(self, cycle, view), _success)

    def run_total(self, cycle: Cycle, view: View) -> NDArray[np.int64]:
        """See Framework."""
        return self._timed("Score", lambda: Framework.run_total(self, cycle, view), _success)

    def run_reserve(self, cycle: Cycle, node_name: str) -> Status | None:
        """See Framework."""
        return self._timed("Reserve", lambda: Framework.run_reserve(self, cycle, node_name), name_of)

    def run_unreserve(self, cycle: Cycle, node_name: str) -> None:
        """See Framework."""
        self._timed("Unreserve", lambda: Framework.run_unreserve(self, cycle, node_name), _success)

    def run_permit(self, cycle: Cycle, node_name: str) -> tuple[Status | None, dict[str, float]]:
        """See Framework."""
        return self._timed("Permit", lambda: Framework.run_permit(self, cycle, node_name), _first_status)

    def run_pre_bind_pre_flights(self, cycle: Cycle, node_name: str) -> PreFlights:
        """See Framework."""
        return self._timed(
            "PreBindPreFlight",
            lambda: Framework.run_pre_bind_pre_flights(self, cycle, node_name),
            lambda flights: name_of(flights.status),
        )

    async def run_pre_bind(self, cycle: Cycle, node_name: str, flights: PreFlights) -> Status | None:
        """See Framework."""
        started = self.clock.now()
        status = await Framework.run_pre_bind(self, cycle, node_name, flights)
        self._tell("PreBind", name_of(status), started)
        return status

    async def run_bind(self, cycle: Cycle, node_name: str) -> Status | None:
        """See Framework."""
        started = self.clock.now()
        try:
            status = await Framework.run_bind(self, cycle, node_name)
        except PluginError:
            self._tell("Bind", Code.Error.name, started)
            raise
        self._tell("Bind", name_of(status), started)
        return status

    async def run_post_bind(self, cycle: Cycle, node_name: str) -> None:
        """See Framework."""
        started = self.clock.now()
        await Framework.run_post_bind(self, cycle, node_name)
        self._tell("PostBind", Code.Success.name, started)

    def _timed(self, point: str, work: Callable[[], T], status: Callable[[T], str]) -> T:
        started = self.clock.now()
        try:
            result = work()
        except PluginError:
            self._tell(point, Code.Error.name, started)
            raise
        self._tell(point, status(result), started)
        return result

    def _tell(self, point: str, status: str, started: float) -> None:
        observe = self.observers.get((point, status))
        if observe is None:
            observe = self.observers[point, status] = self.measure.point(point, status, self.profile)
        observe(self.clock.now() - started)


def name_of(status: Status | None) -> str:
    """A status as upstream's label names it."""
    return Code.Success.name if status is None else status.code.name


def _success(_result: object) -> str:
    return Code.Success.name


def _first_status(result: tuple[Status | None, object]) -> str:
    return name_of(result[0])


def _pre_filter_status(result: PreFiltered) -> str:
    return name_of(result.status)


def with_timed_plugins(framework: MeasuredFramework, alike: Alike) -> MeasuredFramework:
    """A copy of the framework whose plugins are timed; it remembers like pods by itself, in `alike`."""
    measure, clock = framework.measure, framework.clock

    def timed(plugins: Iterable[Any], **points: str) -> Sequence[Any]:
        return [_TimedPlugin(plugin, points, measure, clock.now) for plugin in plugins]

    return replace(
        framework,
        alike=alike,
        pre_filters=timed(framework.pre_filters, pre_filter="PreFilter"),
        filters=timed(framework.filters, filter="Filter"),
        post_filters=timed(framework.post_filters, post_filter="PostFilter"),
        pre_scores=timed(framework.pre_scores, pre_score="PreScore"),
        scores=[
            Weighted(
                timed([item.plugin], score="Score")[0],
                item.weight,
                item.normalize and timed([item.normalize], normalize="ScoreExtensionNormalize")[0],
            )
            for item in framework.scores
        ],
        reserves=timed(framework.reserves, reserve="Reserve", unreserve="Unreserve"),
        permits=timed(framework.permits, permit="Permit"),
        pre_binds=timed(framework.pre_binds, pre_bind_pre_flight="PreBindPreFlight", pre_bind="PreBind"),
        binds=timed(framework.binds, bind="Bind"),
        post_binds=timed(framework.post_binds, post_bind="PostBind"),
    )


class _TimedPlugin:
    """A plugin of which some methods are timed; everything else is the plugin's own."""

    def __init__(
        self,
        plugin: Any,  # noqa: ANN401 - any kind of plugin
        points: dict[str, str],
        measure: Measure,
        now: Callable[[], float],
    ) -> None:
        self.name: str = plugin.name
        self._plugin = plugin
        for method, point in points.items():
            work = getattr(plugin, method)
            awaited = method in _AWAITED
            setattr(
                self, method, (_timed_async if awaited else _timed)(work, plugin.name, point, measure, now)
            )

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the plugin has
        return getattr(self._plugin, name)


_AWAITED = frozenset({"pre_bind", "bind", "post_bind"})


def _timed(
    work: Callable[..., T], plugin: str, point: str, measure: Measure, now: Callable[[], float]
) -> Callable[..., T]:
    def call(*args: object) -> T:
        started = now()
        result = work(*args)
        measure.plugin(plugin, point, _status_in(result), now() - started)
        return result

    return call


def _timed_async(
    work: Callable[..., Any], plugin: str, point: str, measure: Measure, now: Callable[[], float]
) -> Callable[..., Any]:
    async def call(*args: object) -> object:
        started = now()
        result: object = await work(*args)
        measure.plugin(plugin, point, _status_in(result), now() - started)
        return result

    return call


def _status_in(result: object) -> str:
    """The status that a plugin's answer means, whatever the extension point."""
    if isinstance(result, tuple) and result and isinstance(result[0], Status | None):
        result = result[0]
    elif hasattr(result, "status") and not isinstance(result, PreFlight):
        result = result.status
    return name_of(result) if isinstance(result, Status) else Code.Success.name

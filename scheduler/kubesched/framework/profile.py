"""A configured profile becomes a Framework: plugins built, checked, ordered and weighted.

The expansion of MultiPoint and its precedence follow upstream `expandMultiPointPlugins` and
`getValidScoreWeights` (framework/runtime/framework.go, 1.36).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from kubesched.framework.alike import Alike, Sign
from kubesched.framework.handle import Handle
from kubesched.framework.measured import MeasuredFramework, with_timed_plugins
from kubesched.framework.registration import Registered, RegistrationError, register
from kubesched.framework.registry import PluginImportError, Registry, unknown
from kubesched.framework.runtime import Framework
from kubesched.framework.weighted import Weighted

if TYPE_CHECKING:
    from kubesched.config.types import PluginSet, Profile

POINTS = (
    "pre_enqueue",
    "queue_sort",
    "pre_filter",
    "filter",
    "post_filter",
    "pre_score",
    "score",
    "reserve",
    "permit",
    "pre_bind",
    "bind",
    "post_bind",
)
_UPSTREAM_POINT = {point: point.title().replace("_", "") + "Plugin" for point in POINTS}


def build(profile: Profile, registry: Registry, handle: Handle) -> Framework:
    """The profile's Framework.

    Raises UnknownPluginError for a name nobody provides, PluginImportError for one that cannot be imported,
    RegistrationError for a plugin that breaks the contract, ValueError for a profile that cannot work
    (no queue sort, two of them, no bind).
    """
    built = _build_plugins(profile, registry, handle)
    points = {point: _expand(profile, built, point) for point in POINTS}
    _check_required(profile, points)
    weights = _weights(profile, built)
    kind = Framework if handle.measure is None else partial(MeasuredFramework, measure=handle.measure)
    framework = kind(
        clock=handle.clock,
        waiting_pods=handle.waiting_pods,
        prebinding_pods=handle.prebinding_pods,
        preemptors=handle.preemptors,
        extenders=handle.extenders,
        announces=handle.gates.enabled("NominatedNodeNameForExpectation"),
        profile=profile.scheduler_name,
        percentage_of_nodes_to_score=profile.percentage_of_nodes_to_score,
        queue_sort=points["queue_sort"][0].points["queue_sort"],
        pre_enqueues=_served(points, "pre_enqueue"),
        pre_filters=_served(points, "pre_filter"),
        filters=_served(points, "filter"),
        post_filters=_served(points, "post_filter"),
        pre_scores=_served(points, "pre_score"),
        scores=[_weighted(item, weights) for item in points["score"]],
        reserves=_served(points, "reserve"),
        permits=_served(points, "permit"),
        pre_binds=_served(points, "pre_bind"),
        binds=_served(points, "bind"),
        post_binds=_served(points, "post_bind"),
        alike=Alike(_signs(points)),
        rejectors=[item for item in built.values() if _rejects(item)],
        listed={point: [item.name for item in items] for point, items in points.items() if items},
    )
    if isinstance(framework, MeasuredFramework):
        framework.sampled = with_timed_plugins(framework, Alike(_signs(points)))
    return framework


def _served(points: Mapping[str, list[Registered]], point: str) -> list[Any]:
    return [item.points[point] for item in points[point]]


def _weighted(item: Registered, weights: Mapping[str, int]) -> Weighted:
    return Weighted(item.points["score"], weights[item.name], item.points.get("normalize"))


def _signs(points: Mapping[str, list[Registered]]) -> dict[str, Sign]:
    """The plugins that sign, of those asked about each pod."""
    asked = chain.from_iterable(points[point] for point in ("pre_filter", "filter", "pre_score", "score"))
    return {item.name: item.points["sign"].sign for item in asked if "sign" in item.points}


def _rejects(item: Registered) -> bool:
    """Only plugins that can reject a pod are asked which events wake it."""
    return not item.points.keys().isdisjoint({"pre_enqueue", "pre_filter", "filter", "reserve", "permit"})


def _build_plugins(profile: Profile, registry: Registry, handle: Handle) -> dict[str, Registered]:
    where = f'profile "{profile.scheduler_name}"'
    names = dict.fromkeys(
        item.name for point in (*POINTS, "multi_point") for item in _set(profile, point).enabled
    )
    built: dict[str, Registered] = {}
    for name in names:
        factory = registry.factories.get(name)
        if factory is None:
            raise unknown(name, registry.factories, where=where, not_built=registry.not_built)
        try:
            item = register(factory(profile.args(name), handle))
        except (RegistrationError, PluginImportError):
            raise
        except ValueError as error:
            raise ValueError(f'{where}: initializing plugin "{name}": {error}') from error
        built[name] = item
    return built


def _set(profile: Profile, point: str) -> PluginSet:
    found: PluginSet = getattr(profile.plugins, point)
    return found


def _expand(profile: Profile, built: Mapping[str, Registered], point: str) -> list[Registered]:
    """The plugins of one point in order: re-configured MultiPoint ones, other MultiPoint ones, the rest."""
    own = _set(profile, point)
    explicit = _explicit(own.enabled, built, point)
    disabled = {item.name for item in own.disabled}
    if "*" in disabled:
        return [built[name] for name in explicit]
    multi: dict[str, None] = {}
    overridden: set[str] = set()
    for item in profile.plugins.multi_point.enabled:
        if point not in built[item.name].points or item.name in disabled:
            continue
        if item.name in explicit:
            overridden.add(item.name)
        elif item.name in multi:
            raise ValueError(f'plugin "{item.name}" already registered as "{_UPSTREAM_POINT[point]}"')
        else:
            multi[item.name] = None
    first = [name for name in explicit if name in overridden]
    last = [name for name in explicit if name not in overridden]
    return [built[name] for name in (*first, *multi, *last)]


def _explicit(enabled: Iterable[Any], built: Mapping[str, Registered], point: str) -> dict[str, None]:
    names: dict[str, None] = {}
    for item in enabled:
        if point not in built[item.name].points:
            raise ValueError(f'plugin "{item.name}" does not extend {_UPSTREAM_POINT[point]} plugin')
        if item.name in names:
            raise ValueError(f'plugin "{item.name}" already registered as "{_UPSTREAM_POINT[point]}"')
        names[item.name] = None
    return names


def _check_required(profile: Profile, points: Mapping[str, list[Registered]]) -> None:
    name = profile.scheduler_name
    if (count := len(points["queue_sort"])) != 1:
        raise ValueError(
            f'only one queue sort plugin required for profile with scheduler name "{name}", but got {count}'
        )
    if not points["bind"]:
        raise ValueError(f'at least one bind plugin is needed for profile with scheduler name "{name}"')


def _weights(profile: Profile, built: Mapping[str, Registered]) -> dict[str, int]:
    """The weight of each Score plugin: the score point's own wins over MultiPoint's, and 0 means 1."""
    weights: dict[str, int] = {}
    for item in (*profile.plugins.score.enabled, *profile.plugins.multi_point.enabled):
        if "score" in built[item.name].points:
            weights.setdefault(item.name, item.weight or 1)
    return weights

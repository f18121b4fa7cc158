"""Which worlds can hold the pod: the one answer that live scheduling, preemption and explain share.

Follows upstream `findNodesThatPassFilters` (schedule_one.go) and `RunFilterPluginsWithNominatedPods`
(framework/runtime/framework.go, 1.36).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kubesched.framework.diagnosis import PASSED, Diagnosis

if TYPE_CHECKING:
    from kubesched.api.objects import Pod
    from kubesched.framework.cycle import Cycle
    from kubesched.state.view import View


def feasible(cycle: Cycle, view: View, want: int | None = None) -> Diagnosis:
    """Filter the worlds in order, and stop before the (want+1)-th that passes.

    Worlds whose node has nominated pods of at least the pod's priority must pass with those pods and
    without them: some filters fail because of a pod that will come, others for lack of it. A plugin's
    Error on one world is that world's verdict; raises PluginError where a plugin fails as a whole.
    """
    size = len(view)
    if want is None or want >= size:
        return _filter(cycle, view)
    parts: list[Diagnosis] = []
    found, begin, step = 0, 0, want + 1
    while begin < size and found <= want:
        end = min(size, begin + step)
        part = _filter(cycle, view.take(slice(begin, end)))
        parts.append(part)
        found += len(part.feasible)
        begin, step = end, step * 2
    plugin = np.concatenate([part.plugin for part in parts])
    code = np.concatenate([part.code for part in parts])
    if found > want:
        cut = int(np.flatnonzero(plugin == PASSED)[want])
        plugin, code, begin = plugin[:cut], code[:cut], cut
    return Diagnosis(cycle, view.take(slice(0, begin)), plugin, code)


def _filter(cycle: Cycle, view: View) -> Diagnosis:
    """Filter all worlds, those with nominated pods twice."""
    run = cycle.framework.run_filter
    plugin, code = run(cycle, view)
    if nominated := _nominated(cycle, view):
        worlds = np.fromiter(nominated, np.intp, len(nominated))
        crowded = view.take(worlds).add(range(len(worlds)), list(nominated.values()))
        with_plugin, with_code = run(cycle, crowded)
        failed = with_plugin != PASSED
        plugin[worlds[failed]] = with_plugin[failed]
        code[worlds[failed]] = with_code[failed]
    return Diagnosis(cycle, view, plugin, code)


def _nominated(cycle: Cycle, view: View) -> dict[int, list[Pod]]:
    """The worlds that other pods of at least the same priority are to enter, with those pods."""
    cluster, pod = cycle.cluster, cycle.pod
    names = cluster.nominated.nodes()
    if not names:
        return {}
    rows = [row for name in names if (row := cluster.nodes.slot.get(name)) is not None]
    found: dict[int, list[Pod]] = {}
    worlds: NDArray[np.intp] = np.flatnonzero(np.isin(view.rows, rows))
    for k in worlds.tolist():
        name = cluster.nodes.names[view.rows[k]]
        coming = [p for p in cluster.nominated.on(name) if p.priority >= pod.priority and p.uid != pod.uid]
        if coming:
            found[k] = coming
    return found

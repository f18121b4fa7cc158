"""PreEnqueue: the gate before the active queue.

Follows upstream `runPreEnqueuePlugins` in `backend/queue/scheduling_queue.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Sequence

from kubesched import logs
from kubesched.framework.interface import PreEnqueue
from kubesched.framework.status import Code, Status, error
from kubesched.queue.entry import Entry

_log = logs.get(__name__)


def ask_pre_enqueue(plugins: Sequence[PreEnqueue], entry: Entry) -> None:
    """Set or lift the entry's gate: the first plugin that does not let the pod pass gates it.

    The plugin that gates the pod already is asked first, since it most likely still does. The gating plugin
    counts as a rejector, so that its events are shown to it. An Error gates as a rejection does, and so does
    an exception: the pod must not be lost for it, nor the pods that the same event wakes.
    """
    for plugin in sorted(plugins, key=lambda plugin: plugin.name != entry.gating_plugin):
        status = _answer(plugin, entry)
        if status is None or status.code is Code.Success:
            continue
        entry.gating_plugin = plugin.name
        entry.unschedulable_plugins = {*entry.unschedulable_plugins, plugin.name}
        if status.code is Code.Error:
            _log.error(
                "Unexpected error running PreEnqueue plugin",
                status.message,
                pod=entry.pod.key,
                plugin=plugin.name,
            )
        return
    entry.gating_plugin = ""


def _answer(plugin: PreEnqueue, entry: Entry) -> Status | None:
    try:
        return plugin.pre_enqueue(entry.pod)
    except Exception as failure:  # noqa: BLE001 - a plugin's bug concerns the pods that it gates
        return error(str(failure) or type(failure).__name__)

"""At `-v=10` every score is written down, in kube-scheduler's words, so that one tool reads both logs.

Follows upstream `prioritizeNodes` (schedule_one.go, 1.36).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubesched import logs

if TYPE_CHECKING:
    from kubesched.api.objects import Pod
    from kubesched.framework.rank import Scores

_log = logs.get(__name__)

SCORES = 10
"""The verbosity at which scores are written."""


def log_scores(pod: Pod, scores: Scores) -> None:
    """Write the weighted points of every plugin for every node, then the nodes' totals."""
    names = scores.view.cluster.nodes.names
    nodes = [names[row] for row in scores.view.rows]
    for node, points in zip(nodes, scores.points.T.tolist(), strict=True):
        for plugin, score in zip(scores.plugins, points, strict=True):
            _log.info(
                "Plugin scored node for pod", v=SCORES, pod=pod.key, plugin=plugin, node=node, score=score
            )
    for node, total in zip(nodes, scores.total.tolist(), strict=True):
        _log.info("Calculated node's final score for pod", v=SCORES, pod=pod.key, node=node, score=total)

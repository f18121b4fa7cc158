"""At -v=10 every score is in the log, as kube-scheduler writes it."""

from __future__ import annotations

import io
import re

import pytest
from fakes import ScoreOnly, attempt, nodes, plugin, profile

from kubesched import logs
from kubesched.framework.search import Search
from kubesched.schedule_one import place
from kubesched.testing.builders import cluster, pod


@pytest.mark.parametrize("verbosity", [9, 10])
def test_scores_are_written_from_verbosity_10_on(verbosity):
    """Each plugin's weighted points for each node, then the totals; the texts are what the oracle reads."""
    written = io.StringIO()
    logs.configure(verbosity, stream=written)
    try:
        framework = profile(plugin(ScoreOnly, "S"))
        place(attempt(framework, pod("p"), cluster(*nodes(2))), Search())
    finally:
        logs.configure()
    lines = [re.sub(r"^.*?\] ", "", line) for line in written.getvalue().splitlines()]
    points = [line for line in lines if line.startswith('"Plugin scored node for pod"')]
    totals = [line for line in lines if line.startswith('"Calculated node\'s final score for pod"')]
    if verbosity < 10:
        assert points == totals == []
        return
    assert [re.sub(r"score=\d+", "score=N", line) for line in points] == [
        f'"Plugin scored node for pod" pod="default/p" plugin="S" node="n{index}" score=N' for index in (0, 1)
    ]
    assert len(totals) == 2
    assert all(re.search(r'pod="default/p" node="n\d" score=\d+$', line) for line in totals)

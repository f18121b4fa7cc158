"""The same questions asked of one state that lives on from case to case, as events.

A scheduler keeps counts that it updates with every event and never recounts. Asked in the form `{"events":
…}`, its `explain` answers from such a state; asked in the form `{"objects": …}`, from a fresh one. Both must
say the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from schedlab.decisions import corpus
from schedlab.decisions.corpus import Case, Change, Identity, Object

#: Pods leave before the nodes they are on, and namespaces last.
_LEAVING = ("Pod", "Node")


class Incremental:
    """Turns cases into events; each case begins by taking away what the one before left behind."""

    def __init__(self) -> None:
        self._state: dict[Identity, Object] = {}

    def questions(self, case: Case) -> Iterator[dict[str, Any]]:
        """One line per decision: what happened since the last line, and the pod."""
        pending = [*self._leavings(), *(Change("ADDED", obj) for obj in case.objects)]
        for step in case.steps:
            for change in pending:
                corpus.apply(self._state, change)
            yield {
                "events": [{"type": change.type, "object": change.object} for change in pending],
                "pod": step.pod,
            }
            pending = list(step.after)

    def _leavings(self) -> list[Change]:
        rank = {kind: index for index, kind in enumerate(_LEAVING)}
        order = sorted(self._state.values(), key=lambda obj: rank.get(obj["kind"], len(rank)))
        return [Change("DELETED", obj) for obj in order]

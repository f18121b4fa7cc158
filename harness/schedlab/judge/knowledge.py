"""The states that a scheduler could have known when it decided.

A scheduler acts on what its watches have brought, which may be behind, and on pods it has itself decided on,
whose bindings may still be on their way. A decision counts against it only if no such state allows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from schedlab.history.objects import Objects
from schedlab.judge.account import Account, Binding
from schedlab.judge.values import Object

LAG = timedelta(seconds=2)
"""How far what a scheduler knows may be behind the API server before a decision counts against it."""

_SHUFFLE = timedelta(seconds=0.5)
"""Requests to bind may reach the server in another order than that of their decisions within this time."""

_CUTS = 60
_DECIDED = 40


class Knowledge:
    """The states that could have been known, of one account. Ask in the order of versions: it is quicker."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._own = sorted(account.bindings, key=lambda binding: binding.asked)
        self._objects = Objects()
        self._taken = 0

    def before(self, version: int, when: datetime, uid: str) -> Iterator[list[Object]]:
        """States before `version`, the likeliest first: each a list of objects as the API stores them.

        To each are added pods that the scheduler itself bound around that time: those of which the server was
        asked first, in every number, since their order of decision cannot be told. `uid` is the pod that was
        decided on; it is no obstacle to itself. A watch is in order: who knows this pod knows every older
        revision of a pod, and who has bound a pod to a node every older revision of a node.
        """
        own = [
            binding for binding in self._own if binding.bound.uid != uid and binding.asked - when < _SHUFFLE
        ]
        sure = sum(when - binding.asked > _SHUFFLE for binding in own)
        earlier = [binding for binding in own if binding.asked <= when]
        yield _with(self.at(version), earlier)
        view = [revision for revision in self._account.revisions if revision.version < version]
        floors = {
            "Pod": next((one.version for one in self._account.history.revisions(uid)), 0),
            "Node": max((self._appeared(one) for one in earlier), default=0),
        }
        recent = sum(1 for one in view[-_CUTS:] if when - one.at < LAG and not one.initial)
        for behind in range(recent + 1):
            cut = len(view) - behind
            objects = Objects()
            for number, revision in enumerate(view):
                if number < cut or revision.version <= floors.get(revision.kind, 0):
                    objects.apply(revision)
            for count in range(sure, min(len(own), sure + _DECIDED) + 1):
                yield _with(objects, own[:count])

    def _appeared(self, binding: Binding) -> int:
        """The version with which the node of a binding came to be."""
        return max(
            (
                one.version
                for one in self._account.revisions
                if one.kind == "Node" and one.type == "ADDED" and one.ref.name == binding.node
                if one.version < binding.version
            ),
            default=0,
        )

    def at(self, version: int) -> Objects:
        """All objects before a version."""
        revisions = self._account.revisions
        if self._taken and revisions[self._taken - 1].version >= version:
            self._objects, self._taken = Objects(), 0
        while self._taken < len(revisions) and revisions[self._taken].version < version:
            self._objects.apply(revisions[self._taken])
            self._taken += 1
        return self._objects


def _with(objects: Objects, decided: list[Binding]) -> list[Object]:
    """A state in which pods that are still there are where the scheduler has decided to put them."""
    homes = {binding.bound.uid: binding.node for binding in decided}
    found: list[Object] = []
    for item in objects:
        home = homes.get(item["metadata"].get("uid", ""))
        found.append(item if home is None else {**item, "spec": {**item["spec"], "nodeName": home}})
    return found

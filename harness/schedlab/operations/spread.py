"""`spread`: how pods are distributed over the values of a node label."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, ClassVar

from msgspec import Meta

from schedlab.api.objects import Object
from schedlab.history.history import History
from schedlab.operations.base import Assertion, Met, Never, NotYet, Outcome, Scope
from schedlab.operations.selecting import finished, node_of, refs, select, state_of, subject, terminating
from schedlab.suite.types import Natural, Positive


class Spread(Assertion, kw_only=True):
    """The pods with some labels are spread over topology domains.

    A domain is a value of `topologyKey` on any node of the cluster; one without pods counts as 0. Terminating
    and finished pods do not count, as for the scheduler. `domains` says how many pods the domains have, in
    any order, since which zone gets the odd pod is a tie; with `exact` the named domains must have just these
    counts. Domains that it does not name have none.

    ```yaml
    - spread:
        selector: {app: worker}
        topologyKey: topology.kubernetes.io/zone
        maxSkew: 1
        domains: {zone-0: 3, zone-1: 2, zone-2: 2}
        pending: 0
    ```
    """

    tag: ClassVar[str] = "spread"

    selector: Annotated[dict[str, str], Meta(description="Labels of the pods that are counted.")]
    namespace: Annotated[
        str | None, Meta(description="Where the pods are, instead of the test's namespace.")
    ] = None
    topology_key: Annotated[str, Meta(description="The node label whose values are the domains.")]
    max_skew: Annotated[
        Natural | None, Meta(description="The most by which the fullest domain may exceed the emptiest.")
    ] = None
    domains: Annotated[
        dict[str, int] | None, Meta(description="The number of pods per domain, as a set unless `exact`.")
    ] = None
    exact: Annotated[bool, Meta(description="`domains` means these very domains.")] = False
    pending: Annotated[Natural, Meta(description="How many of the pods are not bound.")] = 0
    count: Annotated[Positive | None, Meta(description="How many pods there are, bound and pending.")] = None

    def check(self, history: History, scope: Scope) -> Outcome:
        """Met if the counts fit; Never if all pods are bound and they do not: bound pods do not move."""
        found = select(history, scope, None, self.selector, self.namespace)
        pods = [pod for pod in found if not finished(pod) and not terminating(pod)]
        pending = [pod for pod in pods if not node_of(pod)]
        counts = self._counts(history, pods)
        seen = self._seen(counts, pending)
        expected = self._expected()
        total = (
            self.count
            if self.count is not None
            else (sum(self.domains.values()) + self.pending if self.domains else None)
        )
        if not pods or (total is not None and len(pods) != total):
            return NotYet(expected, f"{len(pods)} pods, {seen}", objects=refs(pods))
        if len(pending) != self.pending:
            return NotYet(expected, seen, objects=refs(pending))
        if not self._fits(counts):
            settled = total is not None and not pending
            return (Never if settled else NotYet)(expected, seen, history.since(pods[-1]), refs(pods))
        return Met(seen, refs(pods))

    def _counts(self, history: History, pods: list[Object]) -> dict[str, int]:
        nodes = {
            node["metadata"]["name"]: node["metadata"].get("labels") or {}
            for node in history.current.list("Node")
        }
        counts = {labels[self.topology_key]: 0 for labels in nodes.values() if self.topology_key in labels}
        for pod in pods:
            domain = nodes.get(node_of(pod), {}).get(self.topology_key)
            if domain is not None:
                counts[domain] += 1
        return counts

    def _fits(self, counts: dict[str, int]) -> bool:
        if (
            self.max_skew is not None
            and counts
            and max(counts.values()) - min(counts.values()) > self.max_skew
        ):
            return False
        if self.domains is None:
            return True
        wanted, seen = _occupied(self.domains), _occupied(counts)
        if self.exact:
            return seen == wanted
        return Counter(seen.values()) == Counter(wanted.values())

    def _expected(self) -> str:
        parts = [f"{subject(None, self.selector)} spread over {self.topology_key}"]
        if self.max_skew is not None:
            parts.append(f"skew at most {self.max_skew}")
        if self.domains is not None:
            parts.append(
                f"counts {_table(self.domains)}"
                if self.exact
                else f"counts {sorted(self.domains.values(), reverse=True)}"
            )
        return ", ".join([*parts, f"{self.pending} pending"])

    def _seen(self, counts: dict[str, int], pending: list[Object]) -> str:
        why = f" ({state_of(pending[0])})" if pending else ""
        return f"{_table(counts) or 'no node has the label'}, {len(pending)} pending{why}"


def _occupied(counts: dict[str, int]) -> dict[str, int]:
    return {domain: count for domain, count in counts.items() if count}


def _table(counts: dict[str, int]) -> str:
    return " ".join(f"{domain}={count}" for domain, count in sorted(counts.items()))

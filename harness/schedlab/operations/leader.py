"""`leader`: who holds the lease, since how many transitions, and whether others keep still."""

from __future__ import annotations

from typing import Annotated, ClassVar, TypeAlias

from msgspec import Meta, Struct
from msgspec import field as struct_field

from schedlab.history.history import History
from schedlab.history.leases import Term, identities, late_bindings, terms
from schedlab.operations.base import Assertion, Met, Never, NotYet, OperationError, Outcome, Scope
from schedlab.suite.types import BindingName, Natural


class Other(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """Any holder but one."""

    not_: Annotated[str, Meta(description="Who it must not be.")] = struct_field(name="not")


Holder: TypeAlias = Annotated[
    str | Other | None,
    Meta(description="The holderIdentity; `{not: …}` for anybody else; `''` for a lease that nobody holds."),
]


class Leader(Assertion, kw_only=True):
    """The lease of leader election has a holder, as it is described.

    Without `holder` any of the test's replicas will do. It is checked, too, that no replica has ever bound a
    pod while another one held the lease: such a breach fails the test. `as` binds `holder`, `process` (the
    replica's name; empty for a stranger) and `transitions`.

    ```yaml
    - leader: {as: first}
    - scheduler: {signal: KILL, identity: ($first.holder)}
    - leader: {holder: {not: ($first.holder)}, transitions: ($first.transitions + 1), within: 20s, as: second}
    - leader: {holder: ""}                                      # released
    ```
    """

    tag: ClassVar[str] = "leader"

    lease: Annotated[str, Meta(description="The lease, as namespace/name.")] = "kube-system/kube-scheduler"
    holder: Holder = None
    transitions: Annotated[Natural | None, Meta(description="The lease's leaseTransitions.")] = None
    as_: Annotated[
        BindingName | None, Meta(description="The name under which the leader is bound for what follows.")
    ] = struct_field(default=None, name="as")

    def check(self, history: History, scope: Scope) -> Outcome:  # noqa: ARG002 - leases are not in the namespace
        """Met while the last term is as described; Never once a replica bound a pod out of its turn."""
        namespace, _, name = self.lease.partition("/")
        if not name:
            raise OperationError(f"{self.lease!r} is not namespace/name", hint="such as kube-system/mine")
        expected = self._expected()
        held = terms(history, namespace, name)
        if not held:
            return NotYet(expected, "there is no such lease")
        last, process = held[-1], identities(history).get(held[-1].holder, "")
        seen = f"{_described(last)}, term {len(held)}"
        if not self._fits(last, process):
            return NotYet(expected, seen, last.began)
        for late in late_bindings(history, namespace, name):
            return Never(
                expected,
                f"{late.by} bound {late.pod} while {late.holder or 'nobody'} held the lease",
                objects=(late.pod,),
            )
        return Met(seen, value={"holder": last.holder, "process": process, "transitions": last.transitions})

    def _expected(self) -> str:
        match self.holder:
            case None:
                who = "a replica holding"
            case Other():
                who = f"somebody other than {self.holder.not_} holding"
            case "":
                who = "nobody holding"
            case _:
                who = f"{self.holder} holding"
        count = "" if self.transitions is None else f" after {self.transitions} transitions"
        return f"{who} the lease {self.lease}{count}"

    def _fits(self, term: Term, process: str) -> bool:
        if self.transitions is not None and term.transitions != self.transitions:
            return False
        match self.holder:
            case None:
                return bool(process)
            case Other():
                return bool(term.holder) and term.holder != self.holder.not_
            case _:
                return term.holder == self.holder


def _described(term: Term) -> str:
    return f"held by {term.holder or 'nobody'} with {term.transitions} transitions"

"""`history`: what was true of objects in the course of time: always, never, at last, until, exactly once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Any, ClassVar, TypeAlias

from msgspec import Meta
from msgspec import field as struct_field

from schedlab.api.objects import Json, Object
from schedlab.history.entries import Revision
from schedlab.history.history import History
from schedlab.operations.base import Assertion, Met, Never, NotYet, OperationError, Outcome, Scope
from schedlab.operations.finding import (
    ObjectLabels,
    ObjectName,
    ObjectsKind,
    ObjectsNamespace,
    ObjectsVersion,
    title,
)
from schedlab.operations.moments import Moment, changed, moments
from schedlab.suite.check import VARIABLES
from schedlab.suite.expressions import ExpressionError, compiled, is_expression

GIVEN = frozenset({"object", "previous", "change", "objects"})


Truth: TypeAlias = bool | str
"""Whether a condition is true, or why that cannot be told."""

Known: TypeAlias = dict[tuple[str, str, int], tuple[Revision, Truth]]
"""By condition, uid and version; with the revision itself, so that another history's is not taken for it."""


def _condition(description: str) -> Meta:
    return Meta(description=description, extra={VARIABLES: tuple(sorted(GIVEN))})


class HistoryOperation(Assertion, kw_only=True, dict=True):
    """What was true of some objects at every revision since the test began, or since a resource version.

    Conditions are expressions, asked at each revision of each object. They read `object`, `previous` (its
    state before, or null), `change` (`ADDED`, `MODIFIED`, `DELETED`) and `objects`, the list of all that
    existed then. Say one of `always`, `never`, `eventually` and `once`, or `always` with `until`.

    A failure names the first resource version at which the condition broke, and what changed there. In
    `always` and `never` a field that does not exist is a failure: guard it with `has(…)`. In the others it
    is not true yet. `never` holds of no objects, `always` does not.

    ```yaml
    - history:                                    # at no time more than two on one machine
        apiVersion: v1
        kind: Pod
        labels: {app: worker}
        never: (objects.filter(p, has(p.spec.nodeName) && p.spec.nodeName == $gpu[0]).size() > 2)
    - history:
        apiVersion: v1
        kind: Pod
        name: trainer
        once: (has(object.spec.nodeName))
    - history:                                    # kept its gate until it was bound
        apiVersion: v1
        kind: Pod
        name: gated
        always: (!has(object.spec.nodeName))
        until: (!has(object.spec.schedulingGates))
    ```
    """

    tag: ClassVar[str] = "history"

    api_version: ObjectsVersion
    kind: ObjectsKind
    name: ObjectName = None
    labels: ObjectLabels = struct_field(default_factory=dict)
    namespace: ObjectsNamespace = None
    since: Annotated[
        str | int | None,
        Meta(description="A resource version; the state then and what came after it is judged."),
    ] = None
    always: Annotated[str | None, _condition("True at every revision.")] = None
    never: Annotated[str | None, _condition("True at no revision.")] = None
    eventually: Annotated[str | None, _condition("True at one revision at least, of any of them.")] = None
    until: Annotated[
        str | None, _condition("With `always`, which need not be true from where this first is, for each.")
    ] = None
    once: Annotated[str | None, _condition("It becomes true exactly once, of all of them together.")] = None

    def check(self, history: History, scope: Scope) -> Outcome:
        """Judge every revision so far."""
        rule, text = self._rule()
        wanted = self._wanted()
        found = moments(history, scope, wanted, self._version())
        judge = _Judge(found, scope, f"{title(wanted, scope)}: {rule} {text}", self._known)
        if rule == "once":
            return judge.once(text)
        if rule == "eventually":
            return judge.eventually(text)
        if self.until is not None:
            return judge.until(text, self.until)
        return judge.steady(text, wanted=rule == "always")

    @cached_property
    def _known(self) -> Known:
        """What was worked out for revisions that an earlier look has seen, since the past does not change."""
        return {}

    def kinds(self, scope: Scope) -> Sequence[tuple[str, str]]:  # noqa: ARG002 - the kind does not depend on the scope
        """The kind that is judged."""
        return [(self.api_version, self.kind)]

    def _rule(self) -> tuple[str, str]:
        given = {name: getattr(self, name) for name in ("always", "never", "eventually", "once")}
        said = [(name, text) for name, text in given.items() if text is not None]
        if len(said) != 1:
            raise OperationError("give one of `always`, `never`, `eventually` and `once`")
        if self.until is not None and self.always is None:
            raise OperationError("`until` goes with `always`", hint="say what is true until then")
        for text in filter(None, (said[0][1], self.until)):
            if not is_expression(text):
                raise OperationError(f"{text!r} is no expression", hint=f"write ({text})")
        return said[0]

    def _version(self) -> int:
        try:
            return int(self.since or 0)
        except ValueError as error:
            raise OperationError(f"since: {self.since!r} is no resource version") from error

    def _wanted(self) -> Object:
        metadata: dict[str, Any] = {"name": self.name, "labels": self.labels, "namespace": self.namespace}
        present = {key: value for key, value in metadata.items() if value}
        return {"apiVersion": self.api_version, "kind": self.kind, "metadata": present}


class _Judge:
    """The rules, over the moments of some objects."""

    def __init__(self, found: Sequence[Moment], scope: Scope, expected: str, known: Known) -> None:
        self._found = found
        self._known = known
        self._scope = scope
        self._expected = expected

    def steady(self, text: str, *, wanted: bool) -> Outcome:
        """True of each moment (or false of each)."""
        for moment in self._found:
            truth = self._truth(text, moment)
            if truth is not wanted:
                return self._broken(moment, truth)
        if wanted and not self._found:
            return NotYet(self._expected, "no such object so far")
        return Met(f"{len(self._found)} revisions judged")

    def eventually(self, text: str) -> Outcome:
        """True of some moment."""
        last: Truth = False
        for moment in self._found:
            last = self._truth(text, moment)
            if last is True:
                return Met(f"at {moment}", (moment.revision.ref,))
        return self._waiting(last)

    def until(self, text: str, end: str) -> Outcome:
        """True of each object's moments before the first at which `end` is."""
        ended: set[str] = set()
        last: Truth = False
        for moment in self._found:
            uid = moment.revision.uid
            if uid in ended:
                continue
            last = self._truth(end, moment)
            if last is True:
                ended.add(uid)
                continue
            truth = self._truth(text, moment)
            if truth is not True:
                return self._broken(moment, truth)
        if not self._found or {moment.revision.uid for moment in self._found} - ended:
            return self._waiting(last, f"{end} never yet")
        return Met(f"{len(ended)} objects judged")

    def once(self, text: str) -> Outcome:
        """It becomes true at one moment; that it stays so does not count again."""
        state: dict[str, bool] = {}
        begun: list[Moment] = []
        last: Truth = False
        for moment in self._found:
            last = self._truth(text, moment)
            uid = moment.revision.uid
            if last is True and not state.get(uid, False):
                begun.append(moment)
            state[uid] = last is True
        if not begun:
            return self._waiting(last)
        if len(begun) > 1:
            places = " and ".join(str(moment) for moment in begun[:2])
            return Never(
                self._expected,
                f"it became true {len(begun)} times, at {places}",
                begun[1].revision.at,
                (begun[1].revision.ref,),
            )
        return Met(f"at {begun[0]}", (begun[0].revision.ref,))

    def _truth(self, text: str, moment: Moment) -> Truth:
        """The value of a condition, or why it has none; asked once for each revision."""
        revision = moment.revision
        key = (text, revision.uid, revision.version)
        known = self._known.get(key)
        if known is None or known[0] is not revision:
            known = self._known[key] = (revision, self._value(text, moment))
        return known[1]

    def _value(self, text: str, moment: Moment) -> Truth:
        try:
            value: Json = compiled(text, GIVEN).evaluate(self._scope.bindings, moment.given)
        except ExpressionError as error:
            return error.message
        if not isinstance(value, bool):
            raise OperationError(f"{text} gives {value!r}, not true or false")
        return value

    def _broken(self, moment: Moment, truth: Truth) -> Never:
        why = f"; {truth}" if isinstance(truth, str) else ""
        seen = f"it broke at {moment}: {changed(moment)}{why}"
        return Never(self._expected, seen, moment.revision.at, (moment.revision.ref,))

    def _waiting(self, last: Truth, what: str = "") -> NotYet:
        told = what or f"never so in {len(self._found)} revisions"
        if isinstance(last, str):
            told += f"; {last}"
        refs = tuple(dict.fromkeys(moment.revision.ref for moment in self._found))
        since = self._found[-1].revision.at if self._found else None
        return NotYet(self._expected, told if self._found else "no such object so far", since, refs[:10])

"""`history`: each rule is met by a past that keeps it, and names the revision at which another broke it."""

from __future__ import annotations

import msgspec
import pytest
from operations_world import SCOPE, World

from schedlab.operations.base import Met, Never, NotYet, OperationError, Outcome, Scope
from schedlab.operations.history import HistoryOperation
from schedlab.suite.expressions import Expression

BOUND = "(has(object.spec.nodeName))"


def ask(world: World, scope: Scope = SCOPE, **fields: object) -> Outcome:
    given = {"apiVersion": "v1", "kind": "Pod", **fields}
    return msgspec.convert(given, HistoryOperation).check(world.history, scope)


@pytest.fixture
def world() -> World:
    """One pod that waits, is bound and goes; another that only waits."""
    world = World()
    world.pod("a", labels={"app": "x"})
    world.pod("b", labels={"app": "x"})
    world.pod("a", labels={"app": "x"}, reason="Unschedulable", message="no room")
    world.pod("a", "n-0", labels={"app": "x"})
    world.remove("Pod", "a")
    return world


def test_always_names_the_first_revision_at_which_it_broke(world: World) -> None:
    """With what changed there."""
    assert isinstance(ask(world, name="b", always="(object.metadata.name == 'b')"), Met)
    broken = ask(world, name="a", always="(!has(object.spec.nodeName))")
    assert isinstance(broken, Never)
    assert "resource version 4 of Pod ns/a: spec.nodeName: None -> 'n-0'" in broken.seen
    assert broken.since == world.history.revisions("uid-Pod-ns-a")[2].at


def test_always_of_nothing_is_not_met() -> None:
    """A name with a typing mistake does not pass."""
    empty = ask(World(), name="nobody", always="(true)")
    assert isinstance(empty, NotYet)
    assert empty.seen == "no such object so far"


def test_never_is_broken_by_one_revision_of_one_object(world: World) -> None:
    """Though others keep it, and though it went over."""
    assert isinstance(ask(world, labels={"app": "x"}, never="(object.metadata.name == 'c')"), Met)
    assert isinstance(ask(world, labels={"app": "x"}, never=BOUND), Never)
    over = "(object.status.conditions.exists(c, c.status == 'False'))"
    assert isinstance(ask(world, name="a", never=over), Never)
    assert isinstance(ask(World(), never=BOUND), Met)


def test_never_does_not_pass_by_a_field_that_does_not_exist(world: World) -> None:
    """A typing mistake in a condition is told, not taken for false."""
    wrong = ask(world, never="(object.spec.nodename == 'n-0')")
    assert isinstance(wrong, Never)
    assert 'Key not found in map : "nodename"' in wrong.seen


def test_eventually_needs_one_revision(world: World) -> None:
    """A state that is over by now counts."""
    assert isinstance(ask(world, eventually="(object.spec.nodeName == 'n-0')"), Met)
    waiting = ask(world, name="b", eventually=BOUND)
    assert isinstance(waiting, NotYet)
    assert waiting.seen == "never so in 1 revisions"


def test_until_lets_go_when_its_end_comes(world: World) -> None:
    """Not sooner, and not without an end."""
    waits = "(!has(object.spec.nodeName))"
    assert isinstance(ask(world, name="a", always=waits, until=BOUND), Met)
    early = ask(world, name="a", always="(size(object.status.conditions) == 0)", until=BOUND)
    assert isinstance(early, Never)
    assert "resource version 3" in early.seen
    endless = ask(world, always=waits, until=BOUND)
    assert isinstance(endless, NotYet)
    assert f"{BOUND} never yet" in endless.seen


def test_once_counts_beginnings(world: World) -> None:
    """Staying true is no second time; another object's beginning is."""
    assert isinstance(ask(world, once=BOUND), Met)
    assert isinstance(ask(world, name="b", once=BOUND), NotYet)
    world.pod("b", "n-1", labels={"app": "x"})
    twice = ask(world, labels={"app": "x"}, once=BOUND)
    assert isinstance(twice, Never)
    assert "it became true 2 times, at resource version 4 of Pod ns/a and resource" in twice.seen


def test_conditions_read_the_state_before_the_change_and_all_objects(world: World) -> None:
    """`previous` is null at first, `objects` are those of that moment."""
    assert isinstance(ask(world, name="a", eventually="(previous != null && previous.spec == {})"), Met)
    assert isinstance(ask(world, name="a", once="(change == 'DELETED')"), Met)
    assert isinstance(ask(world, always="(size(objects) <= 2)"), Met)
    crowded = ask(world, always="(size(objects) < 2)")
    assert isinstance(crowded, Never)
    assert "resource version 2" in crowded.seen


def test_since_forgets_what_was_before_but_not_the_state_then(world: World) -> None:
    """What holds at that version is judged, too."""
    assert isinstance(ask(world, name="a", since=4, always=BOUND), Met)
    assert isinstance(ask(world, name="a", since="3", always=BOUND), Never)


def test_bindings_are_read(world: World) -> None:
    """As everywhere."""
    scope = Scope("ns", {"nodes": ["n-0"]})
    assert isinstance(ask(world, scope, eventually="(object.spec.nodeName in $nodes)"), Met)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, "give one of"),
        ({"always": "(true)", "never": "(true)"}, "give one of"),
        ({"once": "(true)", "until": "(true)"}, "`until` goes with `always`"),
        ({"once": "true"}, "'true' is no expression"),
        ({"once": "(object.kind)"}, "gives 'Pod', not true or false"),
        ({"once": "(true)", "since": "yesterday"}, "'yesterday' is no resource version"),
    ],
)
def test_what_makes_no_sense_is_refused(world: World, fields: dict[str, object], told: str) -> None:
    """With the way out."""
    with pytest.raises(OperationError, match=told):
        ask(world, **fields)


def test_what_was_judged_is_not_judged_again(monkeypatch: pytest.MonkeyPatch, world: World) -> None:
    """An assertion is asked at every revision, so a long past must cost little; another past is its own."""
    asked: list[str] = []
    evaluate = Expression.evaluate

    def counted(self: Expression, *more: object) -> object:
        asked.append(self.text)
        return evaluate(self, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(Expression, "evaluate", counted)
    given = {"apiVersion": "v1", "kind": "Pod", "never": "(object.metadata.name == 'c')"}
    operation = msgspec.convert(given, HistoryOperation)
    operation.check(world.history, SCOPE)
    assert len(asked) == 5
    world.pod("b", "n-1")
    operation.check(world.history, SCOPE)
    assert len(asked) == 6
    other = World()
    other.pod("c")
    assert isinstance(operation.check(other.history, SCOPE), Never)

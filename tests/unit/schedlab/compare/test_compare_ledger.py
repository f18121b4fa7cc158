"""Differences of one cause are one row, with a count and the smallest example."""

from __future__ import annotations

import io

from rich.console import Console

from schedlab.compare.comparison import Comparison, Party
from schedlab.compare.ledger import Example, Ledger
from schedlab.compare.levels import Divergence, Silent
from schedlab.compare.table import show

FIT = Divergence("scores", "Fit", 1, 2, "Fit", "n1")
TEXT = Divergence("reasons", "a says x; b says y", "x", "y")
NODE = {"kind": "Node", "metadata": {"name": "n1", "uid": "7"}}
POD = {"kind": "Pod", "metadata": {"name": "p", "uid": "8"}, "spec": {"containers": []}}


def ledger():
    made = Ledger(("scores", "reasons"))
    made.add({"scores": Silent.EQUAL, "reasons": TEXT}, Example("seed 1", [NODE], POD))
    for size in (3, 1, 2):
        found = Divergence("scores", "Fit", size, 2, "Fit", "n1")
        made.add({"scores": found, "reasons": Silent.FOLLOWS}, Example(f"seed {size}", [NODE] * size, POD))
    made.add({"scores": Silent.UNOBSERVED, "reasons": Silent.ABSENT}, Example("seed 9"))
    return made


def causes(made):
    return [group.to_cause() for group in made.groups()]


def comparison(made):
    return Comparison(
        Party("a"), Party("b"), "fuzz", levels=made.coverage, causes=causes(made), compared=made.decisions
    )


def test_the_smallest_example_stands_for_its_cause():
    scores, reasons = causes(ledger())
    assert (scores.cause, scores.count, scores.where, scores.a) == ("Fit", 3, "seed 1", 1)
    assert (reasons.level, reasons.count) == ("reasons", 1)


def test_an_example_is_manifests():
    """As one would write them, to be applied."""
    scores, _ = causes(ledger())
    assert scores.objects == [{"kind": "Node", "metadata": {"name": "n1"}}]
    assert scores.pod["metadata"] == {"name": "p"}


def test_coverage_says_what_was_not_compared():
    counts = ledger().coverage
    assert (counts["scores"].compared, counts["scores"].different, counts["scores"].unobserved) == (4, 3, 1)
    assert (counts["reasons"].compared, counts["reasons"].follows, counts["reasons"].absent) == (1, 3, 1)


def test_equal_is_not_blind_and_blind_is_not_equal():
    """A comparison in which nothing was observed must not exit 0."""
    equal, blind = Ledger(("scores",)), Ledger(("scores",))
    equal.add({"scores": Silent.EQUAL}, Example(""))
    blind.add({"scores": Silent.UNOBSERVED}, Example(""))
    assert (comparison(equal).blind, comparison(equal).different) == (False, False)
    assert comparison(blind).blind
    assert comparison(ledger()).different


def test_the_table_has_a_row_per_cause():
    out = io.StringIO()
    show(comparison(ledger()), Console(file=out, width=200))
    text = out.getvalue()
    assert "5 decisions, 4 differences of 2 causes" in text
    assert text.count("Fit") == 2
    assert "compared 4, different 3, not shown by one side 1" in text
    assert "1 Node" in text


def test_the_phrase_that_explains_most_texts_is_their_cause():
    """What else differs in a text follows from it, and differs from case to case."""
    made = Ledger(("reasons",))
    said = [{"only b says: taint", "only a says: cpu"}, {"only b says: taint", "only b says: ports"}]
    for parts in (*said, {"only b says: taint"}, {"only a says: cpu"}):
        found = Divergence("reasons", "; ".join(sorted(parts)), "x", "y", parts=frozenset(parts))
        made.add({"reasons": found}, Example("seed 1"))
    assert {one.cause: one.count for one in causes(made)} == {"only b says: taint": 3, "only a says: cpu": 1}

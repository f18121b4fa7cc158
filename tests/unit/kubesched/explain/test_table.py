"""The table for people says what there is to say, and no more."""

from __future__ import annotations

from kubesched.explain.explanation import Explanation, Infeasible, Preemption
from kubesched.explain.table import table

REJECTED = Infeasible(plugin="NodePorts", reasons=("no port",), unresolvable=False)


def shown(preemption: Preemption) -> str:
    return table(
        Explanation("default/p", "Unschedulable", "0/1 nodes", {"n": REJECTED}, [], preemption=preemption)
    )


def test_victims_are_listed_by_node():
    assert "* n              default/victim" in shown(Preemption({"n": ["default/victim"]}, ["n"]))


def test_preemption_that_found_nothing_needs_no_table():
    """The message says so already."""
    assert "PREEMPTION" not in shown(Preemption({}, []))

"""Messages of one cause have one contrast, whatever their numbers and names are."""

from __future__ import annotations

from schedlab.compare.texts import contrast

FIT = "0/{n} nodes are available: 1 Insufficient cpu, {m} node(s) had untolerated taint"
TAINTED = FIT + " {{{key}: }}. preemption: 0/{n} nodes are available: {n} Preemption is not helpful."


def test_only_what_one_side_says_is_left():
    a = TAINTED.format(n=3, m=2, key="example.com/a")
    b = FIT.format(n=3, m=2) + "(s). preemption: 0/3 nodes are available: 3 Preemption is not helpful."
    assert contrast(a, b).words == (
        "only a says: node(s) had untolerated taint {…}; only b says: node(s) had untolerated taint(s)"
    )


def test_numbers_and_keys_do_not_make_another_cause():
    b = "0/9 nodes are available: 1 Insufficient cpu."
    few, many = (TAINTED.format(n=n, m=m, key=k) for n, m, k in ((3, 2, "a"), (9, 8, "b")))
    assert contrast(few, b) == contrast(many, b)


def test_other_numbers_alone_are_a_cause_of_their_own():
    assert contrast("1 node, 2 pods", "2 node, 2 pods").words == "other numbers in the same text"


def test_another_order_is_not_another_number():
    assert contrast("1 x, 2 y", "2 y, 1 x").words.startswith("the same phrases")


def test_silence_is_told():
    assert contrast("full", "").words == "only a says: full"
    assert contrast("", "full").words == "only b says: full"

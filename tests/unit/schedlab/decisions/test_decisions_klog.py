"""Structured log lines are read as k8s.io/klog writes them."""

from __future__ import annotations

import pytest

from schedlab.decisions.klog import parse

HEADER = "I1120 23:28:33.269246   23982 schedule_one.go:982] "


def test_a_line_is_its_message_and_its_fields():
    line = parse(HEADER + '"Plugin scored node for pod" pod="ns/p" plugin="Fit" node="n1" score=-3')
    assert line is not None
    assert line.message == "Plugin scored node for pod"
    assert line.fields == {"pod": "ns/p", "plugin": "Fit", "node": "n1", "score": "-3"}


def test_go_quoting_is_undone():
    line = parse(HEADER + r'"Calculated \"it\"" err="a \"b\" \\ c\td" note="größe Ω"')
    assert line is not None
    assert line.message == 'Calculated "it"'
    assert line.fields == {"err": 'a "b" \\ c\td', "note": "größe Ω"}


def test_keys_may_hold_spaces_and_values_json():
    line = parse(HEADER + '"Pod moved" pod="a/b" hint=0 unschedulable plugins={"NodeResourcesFit":{}}')
    assert line is not None
    assert line.fields["unschedulable plugins"] == '{"NodeResourcesFit":{}}'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "goroutine 1 [running]:",
        '\t"not a header"',
        "I1120 23:28:33.1  1 main.go:1] plain text",
        "Flag --x has",
    ],
)
def test_what_is_not_structured_is_none(text):
    assert parse(text) is None


def test_unwanted_messages_are_skipped():
    text = HEADER + '"Caches populated" type="*v1.Pod"'
    assert parse(text, {"something else"}) is None
    assert parse(text, {"Caches populated"}) is not None

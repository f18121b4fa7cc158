"""Every switch of the configuration is one that kubesched reads, and the table says what went wrong."""

from __future__ import annotations

import json

import pytest
from tests.differential.switches import __main__ as command
from tests.differential.switches.catalogue import switches

from kubesched.config.load import load
from schedlab.fuzz.features import chosen

NAMES = [one.name for one in switches()]


def result(name="weights", **more):
    base = {"switch": name, "profiles": False, "switched": 3, "decisions": 10, "perSecond": 5.0}
    return {**base, "differences": {}, "discarded": {}, **more}


def test_switches_have_names_of_their_own():
    assert len(set(NAMES)) == len(NAMES) > 40


@pytest.mark.parametrize("switch", switches(), ids=lambda one: one.name)
def test_a_switch_is_a_configuration_and_names_features(switch, tmp_path):
    file = tmp_path / "config.json"
    file.write_text(json.dumps(switch.config))
    load(file)
    assert chosen(switch.features)


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (result(), "equal"),
        (result(differences={"explain: message": 2}), "2 x explain: message"),
        (result(switched=0), "CHANGED NO DECISION"),
        (result("without-NodeName", switched=0), "equal (pods that name their node never reach a scheduler)"),
        (result(switched=0, profiles=True), "equal"),
    ],
)
def test_a_switch_without_effect_proves_nothing(one, words):
    assert command.verdict(one) == words


def test_the_table_fails_with_any_switch(capsys):
    assert command.show([result()]) == 0
    assert command.show([result(), result("fit", differences={"message": 1})]) == 1
    assert "1 wrong" in capsys.readouterr().out


def test_only_results_of_the_same_code_and_size_are_kept(tmp_path):
    path, key = tmp_path / "results.jsonl", {"commit": "a", "seed": 1, "decisions": 5}
    assert command.finished(path, key) == {}
    lines = [result("x") | {"key": key}, result("y") | {"key": {**key, "commit": "b"}}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert set(command.finished(path, key)) == {"x"}

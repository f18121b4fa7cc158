"""`schedlab compare` exits 2 where nothing can be said, and never calls that equal."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from schedlab.compare import commands
from schedlab.compare.comparison import Cause, Comparison, Coverage, Party
from schedlab.compare.sides import distinct, side


def call(*arguments):
    return CliRunner().invoke(commands.compare, ["--a", "kube-scheduler", *arguments])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--b", "kubesched"), "name suites to compare over, or --fuzz"),
        (("--b", "kubesched", "--fuzz", "suites"), "name suites to compare over, or --fuzz"),
        (("--b", "nobody", "--fuzz"), "there is no scheduler 'nobody'"),
        (("--b", "kubesched@1.0.0", "--fuzz"), "at one version only"),
    ],
)
def test_what_cannot_be_compared_exits_2_with_the_reason(arguments, told):
    done = call(*arguments)
    assert (done.exit_code, told in done.output) == (2, True)


@pytest.mark.parametrize(
    ("compared", "causes", "code"),
    [(3, [], 0), (3, [Cause("scores", "Fit", 1)], 1), (0, [], 2)],
    ids=["equal", "different", "nothing observed"],
)
def test_the_exit_code_says_what_was_found(monkeypatch, tmp_path, compared, causes, code):
    found = Comparison(Party("a"), Party("b"), "fuzz", levels={"scores": Coverage(compared)}, causes=causes)
    monkeypatch.setattr(commands, "_compared", lambda *_: found)
    done = call("--b", "kubesched", "--fuzz", "--json", str(tmp_path / "out" / "c.json"))
    assert done.exit_code == code
    assert (tmp_path / "out" / "c.json").read_text().startswith("{")


def test_one_program_in_two_configurations_has_two_names(tmp_path):
    """They are two schedulers of one run."""
    config = tmp_path / "c.yaml"
    config.write_text("kind: KubeSchedulerConfiguration\nparallelism: 3\n")
    a, b = distinct(side("a", "kube-scheduler", None), side("b", "kube-scheduler", config))
    assert (a.configured.name, b.configured.name) == ("kube-scheduler", "kube-scheduler-b")
    assert b.configured.spec.config["parallelism"] == 3
    a, b = distinct(side("a", "kubesched", None), side("b", "kubesched", None))
    assert (a.configured.name, b.configured.name) == ("kubesched-a", "kubesched-b")

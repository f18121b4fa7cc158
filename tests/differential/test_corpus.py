"""What kube-scheduler once decided, kubesched and the judge decide again, without a cluster.

Every difference that was ever found and shrunk is replayed, too: `differences.jsonl.gz` only grows.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from schedlab.decisions import corpus
from schedlab.decisions.corpus import Question
from schedlab.decisions.decision import UNOBSERVED
from schedlab.decisions.explain import KUBESCHED, Explain
from schedlab.fuzz import ask
from schedlab.fuzz.incremental import Incremental

CORPUS = Path(__file__).parent / "corpus"
FILES = sorted(CORPUS.glob("*.jsonl*"))
#: Replayed as events as well: cases in which what is remembered from pod to pod matters.
REMEMBERED = ("differences.jsonl.gz", "claims.jsonl.gz", "crowds.jsonl.gz")
#: The corpus never gets smaller than this.
LEAST_DECISIONS = 500


def questions(path: Path) -> list[tuple[str, Question]]:
    """Every recorded decision with a name that finds it again."""
    return [
        (f"{path.name} seed {case.seed} decision {number} {question.decision.pod}", question)
        for case in corpus.read(path)
        for number, question in enumerate(corpus.unroll(case))
    ]


def report(found: list[tuple[str, ask.Finding]], total: int) -> str:
    """The first few contradictions, readable."""
    lines = [f"{name}: " + "; ".join(map(str, finding.differences[:3])) for name, finding in found[:10]]
    return f"{len(found)} of {total} decisions differ:\n" + "\n".join(lines)


def test_the_corpus_is_large_enough():
    """At least 500 decisions of the reference are replayed."""
    assert sum(len(questions(path)) for path in FILES) >= LEAST_DECISIONS


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
async def test_kubesched_decides_as_kube_scheduler_did(path, tmp_path):
    """Feasible sets, scores, totals, messages and preemption are equal in every recorded state."""
    found = []
    recorded = questions(path)
    async with Explain((*KUBESCHED, *configured(path, tmp_path))) as explain:
        answers = explain.ask_all(question.to_explain() for _, question in recorded)
        async for name, question, answer in zipped(recorded, answers):
            finding = ask.contradiction(question, answer)
            if finding:
                found.append((name, finding))
    assert not found, report(found, len(recorded))


@pytest.mark.parametrize("name", REMEMBERED)
async def test_a_state_that_lives_on_answers_as_a_fresh_one(name):
    """A state that is told only what changed decides as kube-scheduler did, too."""
    recorded = questions(CORPUS / name)
    incremental = Incremental()
    events = (line for case in corpus.read(CORPUS / name) for line in incremental.questions(case))
    found = []
    async with Explain(KUBESCHED) as explain:
        async for where, question, answer in zipped(recorded, explain.ask_all(events)):
            if finding := ask.contradiction(question, answer):
                found.append((where, finding))
    assert not found, report(found, len(recorded))


def configured(path: Path, directory: Path) -> tuple[str, ...]:
    """The flags for the one configuration that all cases of a file were recorded with."""
    (config,) = {json.dumps(case.config) for case in corpus.read(path)}
    if config == "{}":
        return ()
    file = directory / "config.json"
    file.write_text(config)
    return ("--config", str(file))


async def zipped(recorded, answers):
    names = iter(recorded)
    async for answer in answers:
        name, question = next(names)
        yield name, question, answer


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_judge_allows_exactly_what_kube_scheduler_found_feasible(path):
    """The judge's rules and the reference's filters agree on every node of every recorded state."""
    recorded = questions(path)
    assert any(question.decision.feasible is not UNOBSERVED for _, question in recorded)
    found = [(name, finding) for name, question in recorded if (finding := ask.judged(question))]
    assert not found, report(found, len(recorded))

"""Reads a test file, or says everything that is wrong with it.

Strict: unknown fields, wrong types, operations that do not exist, expressions that do not compile, bindings
that nothing binds, and files that are missing are all found before anything runs, each with its line and a
suggestion.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import inspect

from schedlab.errors import UsageError
from schedlab.kubelet.configuration import configure
from schedlab.suite import files, operations, scenarios, templates
from schedlab.suite.bindings import undefined
from schedlab.suite.check import Checker
from schedlab.suite.document import Document
from schedlab.suite.mutation import mutated, void
from schedlab.suite.plan import PlannedStep, Test
from schedlab.suite.positions import LoadError, Problem
from schedlab.suite.templates import Templates
from schedlab.suite.typed import convert, single
from schedlab.suite.types import KubeletNeeds, Step, TestDocument

FILE_NAME = "test.yaml"


def load(path: Path) -> Test:
    """The test in a file.

    Raises:
        LoadError: with every problem of the file and of the files it names.
    """
    doc = single(path, "Test")
    checker = Checker(path, operations=lambda node: operations.check(path, node))
    problems = list(checker.check(doc.node, inspect.type_info(TestDocument)))
    found, troubles = files.found(doc)
    problems += troubles
    used = templates.used(doc)
    problems += used.problems
    if problems:
        raise LoadError(problems)
    typed = convert(doc, TestDocument)
    test = Test(
        path=doc.file,
        metadata=typed.metadata,
        spec=typed.spec,
        steps=[_step(doc, index, step, used) for index, step in enumerate(typed.spec.steps)],
        catch=operations.planned(doc, typed.spec.catch, "spec", "catch"),
        files={**used.files, **found},
        control_plane=doc.position(("spec", "controlPlane")),
    )
    problems = [*_inconsistent(test, doc), *templates.misused(doc, typed.spec.steps, used)]
    if problems:
        raise LoadError(problems)
    return test


def _inconsistent(test: Test, doc: Document) -> Iterator[Problem]:
    """What can be seen only in the test as a whole, in each of its scenarios."""
    yield from scenarios.alike(test, doc)
    yield from _misconfigured(test, doc)
    for run in scenarios.expanded(test):
        yield from undefined(run, doc)
        if run.spec.mutation is not None:
            yield from void(run, run.spec.mutation, doc)
            yield from undefined(mutated(run, run.spec.mutation), doc)


def _misconfigured(test: Test, doc: Document) -> Iterator[Problem]:
    """What a kubelet would not start with; if the test's own settings are sound, those of its mutation."""
    settings: dict[tuple[str, ...], KubeletNeeds | None] = {("spec", "kubelet"): test.spec.kubelet}
    mutation = test.spec.mutation
    if mutation is not None and mutation.kubelet is not None:
        settings["spec", "mutation", "kubelet"] = mutated(test, mutation).spec.kubelet
    for where, kubelet in settings.items():
        try:
            configure(kubelet or KubeletNeeds())
        except UsageError as error:
            yield Problem(doc.position(where), error.message, error.hint)
            return


def _step(doc: Document, index: int, step: Step, used: Templates) -> PlannedStep:
    path = ("spec", "steps", index)
    name = step.name or f"step {index + 1}"
    bindings = operations.bound(doc, step.bindings, *path, "bindings")
    if step.use is not None and step.use.template in used.steps:
        given = operations.bound(doc, step.use.with_.bindings, *path, "use", "with", "bindings")
        return templates.filled(used.steps[step.use.template], step, name, [*bindings, *given])
    return PlannedStep(
        name=name,
        timeouts=step.timeouts,
        try_=operations.planned(doc, step.try_, *path, "try"),
        catch=operations.planned(doc, step.catch, *path, "catch"),
        finally_=operations.planned(doc, step.finally_, *path, "finally"),
        cleanup=operations.planned(doc, step.cleanup, *path, "cleanup"),
        bindings=bindings,
    )

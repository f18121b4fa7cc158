"""Step templates: a step that several tests use, in a file of its own, with bindings of its own.

The files that a template names are beside the template; its bindings have the values that `with` gives, or
else its own. They are bound in the step that uses it and nowhere else; `as` binds for all that follows.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec
import yaml
from msgspec import inspect

from schedlab.api.objects import Object
from schedlab.suite import document, files, operations
from schedlab.suite.check import Checker
from schedlab.suite.document import Document
from schedlab.suite.plan import PlannedBinding, PlannedStep
from schedlab.suite.positions import LoadError, Problem, did_you_mean
from schedlab.suite.typed import convert, single
from schedlab.suite.types import Step, StepTemplate, Timeouts

KIND = "StepTemplate"


@dataclass(slots=True)
class Templates:
    """The templates of one test, by the path that it names them with."""

    steps: dict[str, PlannedStep] = field(default_factory=dict)
    files: dict[str, list[Object]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def used(doc: Document) -> Templates:
    """All templates that the steps of a test name, with what is wrong with them."""
    result = Templates()
    for name, node in _named(doc.node):
        if name in result.steps:
            continue
        path = doc.file.parent / name
        if not path.is_file():
            result.problems.append(files.missing(doc, name, node))
            continue
        try:
            step, found = load(path, doc.file.parent)
        except LoadError as error:
            result.problems += error.problems
            continue
        result.steps[name] = step
        result.files.update(found)
    return result


def load(path: Path, folder: Path) -> tuple[PlannedStep, Mapping[str, list[Object]]]:
    """A template and its files, named as seen from the folder of the test.

    Raises:
        LoadError: with everything that is wrong with it.
    """
    doc = single(path, KIND)
    checker = Checker(path, operations=lambda node: operations.check(path, node))
    problems = list(checker.check(doc.node, inspect.type_info(StepTemplate)))

    def named(name: str) -> str:
        return os.path.relpath(path.parent / name, folder)

    found, troubles = files.found(doc, named)
    problems += troubles
    if problems:
        raise LoadError(problems)
    template = convert(doc, StepTemplate)
    spec = template.spec
    step = PlannedStep(
        name=template.metadata.name,
        timeouts=spec.timeouts,
        try_=operations.planned(doc, spec.try_, "spec", "try", named=named),
        catch=operations.planned(doc, spec.catch, "spec", "catch", named=named),
        finally_=operations.planned(doc, spec.finally_, "spec", "finally", named=named),
        cleanup=operations.planned(doc, spec.cleanup, "spec", "cleanup", named=named),
        bindings=operations.bound(doc, spec.bindings, "spec", "bindings"),
    )
    return step, found


def filled(template: PlannedStep, step: Step, name: str, given: Sequence[PlannedBinding]) -> PlannedStep:
    """The step that uses a template: its own name and timeouts, its values for the template's bindings."""
    values = {binding.name: binding for binding in given}
    known = {binding.name for binding in template.bindings}
    return replace(
        template,
        name=step.name or f"{name}: {template.name}",
        timeouts=_timeouts(template.timeouts, step.timeouts),
        bindings=[b for b in given if b.name not in known]
        + [values.get(b.name, b) for b in template.bindings],
    )


def misused(doc: Document, steps: Sequence[Step], known: Templates) -> Iterator[Problem]:
    """Steps that use a template and do something else besides, or give it what it does not take."""
    for index, step in enumerate(steps):
        if step.use is None:
            continue
        path = ("spec", "steps", index)
        for block, list_ in (
            ("try", step.try_),
            ("catch", step.catch),
            ("finally", step.finally_),
            ("cleanup", step.cleanup),
        ):
            if list_:
                place = doc.position((*path, block))
                yield Problem(place, f"a step with `use` has no `{block}` of its own", "make it another step")
        takes = [binding.name for binding in known.steps[step.use.template].bindings]
        for at, binding in enumerate(step.use.with_.bindings):
            if binding.name not in takes:
                place = doc.position((*path, "use", "with", "bindings", at))
                hint = did_you_mean(binding.name, takes) or "it has no bindings"
                yield Problem(place, f"the template takes no binding {binding.name!r}", hint)


def _timeouts(template: Timeouts, step: Timeouts) -> Timeouts:
    given = {name: value for name in step.__struct_fields__ if (value := getattr(step, name)) is not None}
    return msgspec.structs.replace(template, **given)


def _named(root: yaml.Node) -> Iterator[tuple[str, yaml.Node]]:
    """Every `use.template` of a step."""
    spec = document.child(root, "spec")
    steps = document.child(spec, "steps") if spec is not None else None
    for step in steps.value if isinstance(steps, yaml.SequenceNode) else ():
        use = document.child(step, "use")
        name = document.child(use, "template") if use is not None else None
        if isinstance(name, yaml.ScalarNode):
            yield name.value, name

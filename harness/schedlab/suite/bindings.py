"""Finds expressions that read a binding nothing binds, before anything runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedlab.api.objects import Json
from schedlab.operations import registry
from schedlab.suite import trees
from schedlab.suite.document import Document
from schedlab.suite.expressions import compiled, is_expression
from schedlab.suite.plan import PlannedOperation, PlannedStep, Test
from schedlab.suite.positions import Problem, did_you_mean

BUILT_IN = frozenset({"namespace", "test", "scheduler"})
"""Bound in every test: its namespace, its name, and the name of the scheduler under test."""

ANSWERS = {"expect": frozenset({"error"}), "check": frozenset({"error", "exitCode", "stderr", "stdout"})}
"""Fields of operations in which more is bound: what came of what the operation did."""

TEMPLATES = frozenset({"nodes", "pods"})
"""Operations that bind `$index` in what they make many of."""


def undefined(test: Test, doc: Document) -> Iterator[Problem]:
    """One problem per expression that reads an unknown name; in the order in which operations run."""
    names = set(BUILT_IN)
    for index, binding in enumerate(test.spec.bindings):
        for name in sorted(read_by(binding.value) - names):
            yield Problem(
                doc.position(("spec", "bindings", index)), f"${name} is not bound here", _hint(name, names)
            )
        names.add(binding.name)
    for step in test.steps:
        own = _own(step, names)
        yield from _unbound(step, names)
        for operations in (step.try_, step.catch, step.finally_):
            yield from _in_order(test, operations, names, own)
    for step in reversed(test.steps):
        yield from _in_order(test, step.cleanup, names, _own(step, names))
    yield from _in_order(test, test.catch, names, frozenset())


def _own(step: PlannedStep, names: set[str]) -> frozenset[str]:
    """What a step binds for itself alone."""
    return frozenset(binding.name for binding in step.bindings) - names


def _unbound(step: PlannedStep, names: set[str]) -> Iterator[Problem]:
    known = set(names)
    for binding in step.bindings:
        for name in sorted(read_by(binding.value) - known):
            yield Problem(binding.position, f"${name} is not bound here", _hint(name, known))
        known.add(binding.name)


def _in_order(
    test: Test, operations: Sequence[PlannedOperation], names: set[str], own: frozenset[str]
) -> Iterator[Problem]:
    for operation in operations:
        known = names | own | ({"index"} if operation.tag in TEMPLATES else set())
        read = _read(operation, test)
        for name in sorted(read - known):
            yield Problem(operation.position, f"${name} is not bound here", _hint(name, known))
        if bound := operation.fields.get("as"):
            names.add(str(bound))


def _read(operation: PlannedOperation, test: Test) -> set[str]:
    """The names that an operation reads, in its fields and in the file that it names."""
    own = registry.own(operation.tag)
    names = read_by({key: value for key, value in operation.fields.items() if key not in own})
    for key, given in own.items():
        names |= _read_in(operation.fields.get(key), given) - ANSWERS.get(key, frozenset())
    documents = list(test.files.get(str(operation.fields.get("file")), ()))
    return names | _read_in(documents, own.get("resource", frozenset()))


def _read_in(value: Json, given: frozenset[str]) -> set[str]:
    if is_expression(value):
        return set(compiled(value, given).names)
    return trees.read_by(value) if given else read_by(value)


def read_by(tree: Json) -> set[str]:
    """The names of the bindings that the expressions in a tree read."""
    if isinstance(tree, dict):
        return set[str]().union(*(read_by(value) for value in tree.values()))
    if isinstance(tree, list):
        return set[str]().union(*(read_by(value) for value in tree))
    return set(compiled(tree).names) if is_expression(tree) else set()


def _hint(name: str, names: set[str] | frozenset[str]) -> str:
    return did_you_mean(name, sorted(names))

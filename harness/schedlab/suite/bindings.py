"""Finds expressions that read a binding nothing binds, before anything runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedlab.api.objects import Json
from schedlab.suite.document import Document
from schedlab.suite.expressions import compiled, is_expression
from schedlab.suite.plan import PlannedOperation, Test
from schedlab.suite.positions import Problem, did_you_mean

BUILT_IN = frozenset({"namespace", "test", "scheduler"})
"""Bound in every test: its namespace, its name, and the name of the scheduler under test."""

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
        for operations in (step.try_, step.catch, step.finally_):
            yield from _in_order(test, operations, names)
    for step in reversed(test.steps):
        yield from _in_order(test, step.cleanup, names)
    yield from _in_order(test, test.catch, names)


def _in_order(test: Test, operations: Sequence[PlannedOperation], names: set[str]) -> Iterator[Problem]:
    for operation in operations:
        known = names | {"index"} if operation.tag in TEMPLATES else names
        read = read_by(operation.fields) | read_by(
            list(test.files.get(str(operation.fields.get("file")), ()))
        )
        for name in sorted(read - known):
            yield Problem(operation.position, f"${name} is not bound here", _hint(name, known))
        if bound := operation.fields.get("as"):
            names.add(str(bound))


def read_by(tree: Json) -> set[str]:
    """The names of the bindings that the expressions in a tree read."""
    if isinstance(tree, dict):
        return set[str]().union(*(read_by(value) for value in tree.values()))
    if isinstance(tree, list):
        return set[str]().union(*(read_by(value) for value in tree))
    return set(compiled(tree).names) if is_expression(tree) else set()


def _hint(name: str, names: set[str] | frozenset[str]) -> str:
    return did_you_mean(name, sorted(names))

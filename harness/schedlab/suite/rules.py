"""What makes a test of a scheduler worth little though it runs, found without running it.

Each rule looks at a loaded test. A test that has a reason to break one says so in its metadata:
`annotations: {schedlab/lint: "few-nodes"}`, with the names of the rules that do not apply to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeGuard

from schedlab import timing
from schedlab.api.objects import Json, Object
from schedlab.cluster.fleet import parse
from schedlab.cluster.nodes import profiles
from schedlab.errors import UsageError
from schedlab.operations.registry import OPERATIONS
from schedlab.runner.sensitivity import mutant
from schedlab.suite.document import Document
from schedlab.suite.expressions import is_expression
from schedlab.suite.plan import PlannedOperation, Test
from schedlab.suite.positions import Problem, did_you_mean

WAIVERS = "schedlab/lint"
FEWEST_NODES = 3
LONGEST_WAIT = 90.0
_SYSTEM = ("system-cluster-critical", "system-node-critical")

_WAITING = {"pods": "until", "scheduler": "exits"}

Rule = Callable[[Test, Document], Iterator[Problem]]


def judged(test: Test, doc: Document) -> Iterator[Problem]:
    """The problems that no waiver of the test covers."""
    annotation = test.metadata.annotations.get(WAIVERS, "")
    waived = {name.strip() for name in annotation.split(",") if name.strip()}
    for name in sorted(waived - set(RULES)):
        place = doc.position(("metadata", "annotations", WAIVERS))
        yield Problem(place, f"there is no rule {name!r}", did_you_mean(name, list(RULES)))
    for name, rule in RULES.items():
        for problem in rule(test, doc):
            if name not in waived:
                yield Problem(problem.position, f"{problem.message} [{name}]", problem.hint)


def unknown_profile(test: Test, doc: Document) -> Iterator[Problem]:  # noqa: ARG001 - a rule's signature
    """A machine that no profile describes."""
    known = profiles()
    for operation in _all(test):
        name = operation.fields.get("profile")
        if operation.tag != "nodes" or not _literal(name):
            continue
        if name not in known and "/" not in name:
            yield Problem(operation.position, f"there is no profile {name!r}", did_you_mean(name, known))


def wrong_fleet(test: Test, doc: Document) -> Iterator[Problem]:  # noqa: ARG001 - a rule's signature
    """A line that makes no fleet."""
    for operation in _all(test):
        text = operation.fields.get("fleet")
        if operation.tag == "nodes" and _literal(text):
            try:
                parse(text)
            except UsageError as error:
                yield Problem(operation.position, error.message, error.hint)


def no_assertion(test: Test, doc: Document) -> Iterator[Problem]:
    """Nothing is claimed about the scheduler."""
    if not any(_judges(operation) for operation in _acting(test)):
        hint = "say what must come of it: scheduled, unschedulable, assert, …"
        yield Problem(doc.position(("spec", "steps")), "the test asserts nothing", hint)


def no_proof(test: Test, doc: Document) -> Iterator[Problem]:
    """Nobody knows whether it fails when its subject is broken."""
    if mutant(test) is None:
        hint = "label it with the `plugin` that it is about, or give a `mutation`"
        yield Problem(doc.position(("metadata",)), "nothing shows that the test can fail", hint)


def few_nodes(test: Test, doc: Document) -> Iterator[Problem]:  # noqa: ARG001 - a rule's signature
    """A scheduler that takes any node passes by luck where there are not enough."""
    made = [operation for operation in _acting(test) if operation.tag == "nodes"]
    counts = [_count(operation, test) for operation in made]
    known = [count for count in counts if count is not None]
    if made and len(known) == len(counts) and sum(known) < FEWEST_NODES:
        where = made[0].position
        hint = "add some that are tempting and wrong"
        yield Problem(where, f"only {sum(known)} nodes, {FEWEST_NODES} are the least", hint)


def long_wait(test: Test, doc: Document) -> Iterator[Problem]:  # noqa: ARG001 - a rule's signature
    """A failing test keeps everybody waiting."""
    for operation in _all(test):
        for field in ("within", "holds", "timeout"):
            text = operation.fields.get(field)
            if _literal(text) and timing.parse_duration(text) > LONGEST_WAIT:
                hint = f"{LONGEST_WAIT:g}s are the most"
                yield Problem(operation.position, f"{field}: {text} is too long", hint)


def unknown_priority(test: Test, doc: Document) -> Iterator[Problem]:  # noqa: ARG001 - a rule's signature
    """A pod of a PriorityClass that nobody makes cannot be created."""
    made = {
        str(item["metadata"].get("name")) for _, item in _objects(test) if item.get("kind") == "PriorityClass"
    }
    if any(map(is_expression, made)):
        return
    known = sorted({*made, *_SYSTEM})
    for operation, item in _objects(test):
        for name in _priorities(item):
            if name not in known and not is_expression(name):
                hint = did_you_mean(name, known)
                yield Problem(operation.position, f"nothing makes the PriorityClass {name!r}", hint)


def unreachable(test: Test, doc: Document) -> Iterator[Problem]:
    """Operations that never run."""
    for index, step in enumerate(test.steps):
        if step.catch and not step.try_:
            place = doc.position(("spec", "steps", index, "catch"))
            yield Problem(place, "`catch` is never reached in a step without `try`")


RULES: Mapping[str, Rule] = {
    "unknown-profile": unknown_profile,
    "wrong-fleet": wrong_fleet,
    "no-assertion": no_assertion,
    "no-proof": no_proof,
    "few-nodes": few_nodes,
    "long-wait": long_wait,
    "unknown-priority": unknown_priority,
    "unreachable": unreachable,
}


def _acting(test: Test) -> Iterator[PlannedOperation]:
    """What runs when all goes well."""
    for step in test.steps:
        yield from (*step.try_, *step.finally_, *step.cleanup)


def _judges(operation: PlannedOperation) -> bool:
    """True if it claims something; an action does only where it waits for what the scheduler makes of it."""
    waits = _WAITING.get(operation.tag)
    return OPERATIONS[operation.tag].judges and (waits is None or waits in operation.fields)


def _literal(text: Json) -> TypeGuard[str]:
    return isinstance(text, str) and not is_expression(text)


def _all(test: Test) -> Iterator[PlannedOperation]:
    yield from _acting(test)
    for step in test.steps:
        yield from step.catch
    yield from test.catch


def _count(operation: PlannedOperation, test: Test) -> int | None:
    """How many nodes an operation makes; None if that is known only when it runs."""
    if "fleet" in operation.fields:
        return None
    if "file" in operation.fields:
        return len(test.files[operation.fields["file"]])
    count = operation.fields.get("count", 1)
    return count if isinstance(count, int) else None


def _objects(test: Test) -> Iterator[tuple[PlannedOperation, Object]]:
    """What the test writes, each with the operation that does."""
    for operation in _acting(test):
        if operation.tag not in ("apply", "create", "pods"):
            continue
        inline = operation.fields.get("resource")
        files = test.files.get(str(operation.fields.get("file")), ())
        for item in [inline] if isinstance(inline, dict) else files:
            if isinstance(item.get("metadata", {}), dict):
                yield operation, {"metadata": {}, **item}


def _priorities(item: Json) -> Iterator[str]:
    """Every priorityClassName in a pod or in a template of pods."""
    if isinstance(item, dict):
        for key, value in item.items():
            if key == "priorityClassName" and isinstance(value, str):
                yield value
            else:
                yield from _priorities(value)
    elif isinstance(item, list):
        for entry in item:
            yield from _priorities(entry)

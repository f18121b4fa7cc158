"""A test as it must fail: with the change applied that its `mutation` names.

Disabling a plugin shows that a test is about that plugin. Many claims are not about a plugin: that a
disruption budget is respected, that a lease is taken over. For those the test itself says what to break.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import msgspec

from schedlab.schedulers.configuration import merge
from schedlab.suite.document import Document
from schedlab.suite.plan import Test
from schedlab.suite.positions import Problem, did_you_mean
from schedlab.suite.types import Binding, Mutation


def mutated(test: Test, mutation: Mutation) -> Test:
    """The test with other bindings, another setup of the scheduler, and without some steps."""
    values = {binding.name: binding.value for binding in mutation.bindings}
    bindings = [Binding(name=b.name, value=values.get(b.name, b.value)) for b in test.spec.bindings]
    needs = test.spec.scheduler
    change = mutation.scheduler
    scheduler = msgspec.structs.replace(
        needs,
        config=merge(needs.config, change.config),
        flags=[*needs.flags, *change.flags],
        extenders=needs.extenders if change.extenders is None else change.extenders,
    )
    return replace(
        test,
        spec=msgspec.structs.replace(test.spec, bindings=bindings, scheduler=scheduler),
        steps=[step for step in test.steps if step.name not in mutation.without],
    )


def void(test: Test, mutation: Mutation, doc: Document) -> Iterator[Problem]:
    """What a mutation names that the test does not have; a mutation that changes nothing."""
    where = ("spec", "mutation")
    steps = [step.name for step in test.steps]
    for index, name in enumerate(mutation.without):
        if name not in steps:
            place = doc.position((*where, "without", index))
            yield Problem(place, f"there is no step {name!r}", did_you_mean(name, steps))
    constants = [binding.name for binding in test.spec.bindings]
    for index, binding in enumerate(mutation.bindings):
        if binding.name not in constants:
            place = doc.position((*where, "bindings", index, "name"))
            hint = did_you_mean(binding.name, constants) or "declare it with its right value in spec.bindings"
            yield Problem(place, f"spec.bindings has no {binding.name!r}", hint)
    needs = mutation.scheduler
    changes = (mutation.without, mutation.bindings, needs.config, needs.flags, needs.extenders is not None)
    if not any(changes):
        hint = "give other `bindings`, a `scheduler` setup, or steps to go `without`"
        yield Problem(doc.position(where), f"the mutation {mutation.name!r} changes nothing", hint)

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
from schedlab.suite.types import Binding, ControlPlaneNeeds, KubeletNeeds, Mutation


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
        spec=msgspec.structs.replace(
            test.spec,
            bindings=bindings,
            scheduler=scheduler,
            control_plane=_rebooted(test.spec.control_plane, mutation.control_plane),
            kubelet=_reconfigured(test.spec.kubelet, mutation.kubelet),
        ),
        steps=[step for step in test.steps if step.name not in mutation.without],
    )


def _rebooted(needs: ControlPlaneNeeds, change: ControlPlaneNeeds) -> ControlPlaneNeeds:
    """The flags of each program with other values for some."""
    return ControlPlaneNeeds(
        kube_apiserver={**needs.kube_apiserver, **change.kube_apiserver},
        kube_controller_manager={**needs.kube_controller_manager, **change.kube_controller_manager},
        kwok={**needs.kwok, **change.kwok},
    )


def _reconfigured(needs: KubeletNeeds | None, change: KubeletNeeds | None) -> KubeletNeeds | None:
    """The kubelets' settings with others for those that the change gives; mappings by key."""
    if needs is None or change is None:
        return change or needs
    merged = {}
    for name in change.__struct_fields__:
        own, other = getattr(needs, name), getattr(change, name)
        if isinstance(own, dict) and isinstance(other, dict):
            merged[name] = {**own, **other}
        elif other is not None:
            merged[name] = other
    return msgspec.structs.replace(needs, **merged)


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
    setup = (needs.config, needs.flags, needs.extenders is not None, mutation.control_plane, mutation.kubelet)
    changes = (mutation.without, mutation.bindings, *setup)
    if not any(changes):
        hint = "give other `bindings`, a `scheduler`, `controlPlane` or `kubelet`, or steps to go `without`"
        yield Problem(doc.position(where), f"the mutation {mutation.name!r} changes nothing", hint)

"""All operations by their key in a test file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import msgspec
from msgspec import inspect

from schedlab.operations.apply import Apply
from schedlab.operations.assert_ import Assert
from schedlab.operations.base import Operation
from schedlab.operations.churn import Churn
from schedlab.operations.cordon import Cordon, Uncordon
from schedlab.operations.create import Create
from schedlab.operations.delete import Delete
from schedlab.operations.error import Error
from schedlab.operations.events import Events
from schedlab.operations.evict import Evict
from schedlab.operations.evicted import Evicted
from schedlab.operations.explain import Explain
from schedlab.operations.fault import FaultOperation
from schedlab.operations.get import Describe, Get
from schedlab.operations.history import HistoryOperation
from schedlab.operations.kubectl import KubectlOperation
from schedlab.operations.kubelet import Kubelet
from schedlab.operations.leader import Leader
from schedlab.operations.logs import Logs
from schedlab.operations.nodes import Nodes
from schedlab.operations.patch import Patch
from schedlab.operations.pods import Pods
from schedlab.operations.preempted import Preempted
from schedlab.operations.programs import Command, Script
from schedlab.operations.reboot import Reboot
from schedlab.operations.scheduled import Scheduled
from schedlab.operations.scheduler import Scheduler
from schedlab.operations.spread import Spread
from schedlab.operations.unschedulable import Unschedulable
from schedlab.operations.usage import Usage
from schedlab.operations.wait import Wait
from schedlab.suite.check import variables

OPERATIONS: Mapping[str, type[Operation]] = {
    kind.tag: kind
    for kind in (
        Nodes,
        Kubelet,
        Cordon,
        Uncordon,
        Reboot,
        Churn,
        Usage,
        Pods,
        Apply,
        Create,
        Patch,
        Delete,
        Scheduled,
        Unschedulable,
        Spread,
        Preempted,
        Evict,
        Evicted,
        KubectlOperation,
        Leader,
        Scheduler,
        FaultOperation,
        Assert,
        Error,
        HistoryOperation,
        Wait,
        Command,
        Script,
        Events,
        Explain,
        Get,
        Describe,
        Logs,
    )
}


@cache
def own(tag: str) -> Mapping[str, frozenset[str]]:
    """The fields whose expressions an operation evaluates itself, with the variables that it gives them."""
    info = inspect.type_info(OPERATIONS[tag])
    fields = info.fields if isinstance(info, inspect.StructType) else ()
    found = {field.encode_name: variables(field.type) for field in fields}
    return {name: given for name, given in found.items() if given is not None}


def decode(tag: str, fields: dict[str, object]) -> Operation:
    """The operation `tag` with its fields; expressions in them have been replaced by their values.

    Raises:
        msgspec.ValidationError: a value does not fit its field.
    """
    return msgspec.convert(fields, OPERATIONS[tag])

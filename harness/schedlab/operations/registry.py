"""All operations by their key in a test file."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from schedlab.operations.apply import Apply
from schedlab.operations.assert_ import Assert
from schedlab.operations.base import Operation
from schedlab.operations.create import Create
from schedlab.operations.delete import Delete
from schedlab.operations.error import Error
from schedlab.operations.events import Events
from schedlab.operations.explain import Explain
from schedlab.operations.fault import FaultOperation
from schedlab.operations.leader import Leader
from schedlab.operations.nodes import Nodes
from schedlab.operations.patch import Patch
from schedlab.operations.pods import Pods
from schedlab.operations.preempted import Preempted
from schedlab.operations.scheduled import Scheduled
from schedlab.operations.scheduler import Scheduler
from schedlab.operations.spread import Spread
from schedlab.operations.unschedulable import Unschedulable
from schedlab.operations.wait import Wait

OPERATIONS: Mapping[str, type[Operation]] = {
    kind.tag: kind
    for kind in (
        Nodes,
        Pods,
        Apply,
        Create,
        Patch,
        Delete,
        Scheduled,
        Unschedulable,
        Spread,
        Preempted,
        Leader,
        Scheduler,
        FaultOperation,
        Assert,
        Error,
        Wait,
        Events,
        Explain,
    )
}


def decode(tag: str, fields: dict[str, object]) -> Operation:
    """The operation `tag` with its fields; expressions in them have been replaced by their values.

    Raises:
        msgspec.ValidationError: a value does not fit its field.
    """
    return msgspec.convert(fields, OPERATIONS[tag])

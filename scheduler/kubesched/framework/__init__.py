"""The contract between the scheduler and its plugins; all that an out-of-tree plugin imports.

The runtime (`framework.runtime`, `framework.profile`) executes what this contract promises.
"""

from kubesched.framework.cycle import Cycle, Slot
from kubesched.framework.diagnosis import Diagnosis
from kubesched.framework.failure import PluginError
from kubesched.framework.handle import Factory, Handle, VolumeWriter, Writer
from kubesched.framework.interface import (
    MAX_SCORE,
    Bind,
    ClusterEventWithHint,
    Codes,
    EnqueueExtensions,
    Filter,
    Hint,
    NodeFilter,
    NodeNames,
    NodeScore,
    Normalize,
    Permit,
    Plugin,
    Points,
    PostBind,
    PostFilter,
    PostFilterResult,
    PreBind,
    PreEnqueue,
    PreFilter,
    PreFlight,
    PreScore,
    QueuedPod,
    QueueSort,
    Reserve,
    Score,
    Signed,
)
from kubesched.framework.rank import Scores
from kubesched.framework.status import SKIP, Code, Status, error, unresolvable, unschedulable
from kubesched.state import ClusterReader, NodeView, View

__all__ = [
    "MAX_SCORE",
    "SKIP",
    "Bind",
    "ClusterEventWithHint",
    "ClusterReader",
    "Code",
    "Codes",
    "Cycle",
    "Diagnosis",
    "EnqueueExtensions",
    "Factory",
    "Filter",
    "Handle",
    "Hint",
    "NodeFilter",
    "NodeNames",
    "NodeScore",
    "NodeView",
    "Normalize",
    "Permit",
    "Plugin",
    "PluginError",
    "Points",
    "PostBind",
    "PostFilter",
    "PostFilterResult",
    "PreBind",
    "PreEnqueue",
    "PreFilter",
    "PreFlight",
    "PreScore",
    "QueueSort",
    "QueuedPod",
    "Reserve",
    "Score",
    "Scores",
    "Signed",
    "Slot",
    "Status",
    "View",
    "VolumeWriter",
    "Writer",
    "error",
    "unresolvable",
    "unschedulable",
]

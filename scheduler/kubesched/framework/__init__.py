"""The contract between the scheduler and its plugins; all that an out-of-tree plugin imports.

The names in `__all__`, and those of `kubesched.testing`, are the public surface: their signatures change as
docs/plugins.md says, together with `API_VERSION`. Everything else in kubesched may change at any time.
The runtime (`framework.runtime`, `framework.profile`) executes what this contract promises.
"""

from kubesched.api.objects import Node, Pod
from kubesched.config.args import PluginArgs, Seconds
from kubesched.framework.cycle import Cycle, Slot
from kubesched.framework.diagnosis import Diagnosis
from kubesched.framework.failure import PluginError
from kubesched.framework.handle import Factory, Handle, VolumeWriter, Writer
from kubesched.framework.interface import (
    API_VERSION,
    MAX_SCORE,
    Bind,
    ClusterEventWithHint,
    Codes,
    EnqueueExtensions,
    Filter,
    Hint,
    HintFn,
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
from kubesched.framework.registration import RegistrationError
from kubesched.framework.status import SKIP, Code, Status, error, unresolvable, unschedulable
from kubesched.state import ClusterReader, NodeView, View
from kubesched.state.events import ActionType, ClusterEvent, Resource

__all__ = [
    "API_VERSION",
    "MAX_SCORE",
    "SKIP",
    "ActionType",
    "Bind",
    "ClusterEvent",
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
    "HintFn",
    "Node",
    "NodeFilter",
    "NodeNames",
    "NodeScore",
    "NodeView",
    "Normalize",
    "Permit",
    "Plugin",
    "PluginArgs",
    "PluginError",
    "Pod",
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
    "RegistrationError",
    "Reserve",
    "Resource",
    "Score",
    "Scores",
    "Seconds",
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

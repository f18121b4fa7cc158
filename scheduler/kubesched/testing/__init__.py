"""What tests of plugins are built from; public like `kubesched.framework`, under the same version.

`pod`, `node` and the other builders make objects in one line each, `Trial` asks one plugin about them, and
`check_plugin` checks that a plugin keeps to the contract of `kubesched.framework`.
"""

from kubesched.clock import VirtualClock
from kubesched.state.events import WatchEvent
from kubesched.testing.builders import BuiltNode, BuiltPod, cluster, namespace, node, pod
from kubesched.testing.conformance import ConformanceError, check_plugin
from kubesched.testing.scenarios import Scenario
from kubesched.testing.trial import Trial

__all__ = [
    "BuiltNode",
    "BuiltPod",
    "ConformanceError",
    "Scenario",
    "Trial",
    "VirtualClock",
    "WatchEvent",
    "check_plugin",
    "cluster",
    "namespace",
    "node",
    "pod",
]

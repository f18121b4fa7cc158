"""The cluster as the scheduler knows it: node columns, pod indexes, what-if views. One writer, no I/O."""

from kubesched.state.cluster import Cluster
from kubesched.state.node_view import NodeView
from kubesched.state.nodes import NodeColumns
from kubesched.state.nominator import Nominator
from kubesched.state.pods import PodColumns
from kubesched.state.reader import ClusterReader
from kubesched.state.view import StaleViewError, View

__all__ = [
    "Cluster",
    "ClusterReader",
    "NodeColumns",
    "NodeView",
    "Nominator",
    "PodColumns",
    "StaleViewError",
    "View",
]

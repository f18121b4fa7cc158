"""What tests of schedulers and plugins are built from.

`builders` makes pods, nodes and clusters in one line each; `check_plugin` checks that a plugin keeps to the
contract of `kubesched.framework`.
"""

from kubesched.testing.conformance import ConformanceError, check_plugin
from kubesched.testing.scenarios import Scenario

__all__ = ["ConformanceError", "Scenario", "check_plugin"]

"""What happened on a control plane, append-only: all that assertions, judge, comparison and reports read.

A `History` is filled by a `Recorder` while a test runs and can be read back from its run directory
afterwards.
"""

from __future__ import annotations

from schedlab.history.audit import Write
from schedlab.history.entries import Gap, ProcessEvent, Revision
from schedlab.history.history import History
from schedlab.history.objects import Objects

__all__ = ["Gap", "History", "Objects", "ProcessEvent", "Revision", "Write"]

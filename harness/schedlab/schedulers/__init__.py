"""Schedulers under test: declared in a file, started as processes, known only by their API and their log.

A scheduler of one's own is one `kind: Scheduler` file; the two built-in ones are such files, in
`manifests/schedulers`.
"""

from __future__ import annotations

from schedlab.schedulers.declaration import SchedulerSpec, declared
from schedlab.schedulers.running import RunningScheduler, start

__all__ = ["RunningScheduler", "SchedulerSpec", "declared", "start"]

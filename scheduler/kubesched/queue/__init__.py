"""The scheduling queue: active, backoff, unschedulable, gated, in flight."""

from __future__ import annotations

from kubesched.queue.entry import Entry, Place
from kubesched.queue.hints import Registrations
from kubesched.queue.pending import Pending
from kubesched.queue.scheduling_queue import SchedulingQueue

__all__ = ["Entry", "Pending", "Place", "Registrations", "SchedulingQueue"]

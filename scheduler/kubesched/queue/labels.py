"""What moves a pod when no cluster event does, as logs and the metric `queue_incoming_pods_total` call it.

The texts are upstream's (`framework/events.go`, 1.36).
"""

from __future__ import annotations

SCHEDULE_ATTEMPT_FAILURE = "ScheduleAttemptFailure"
"""An attempt failed."""
BACKOFF_COMPLETE = "BackoffComplete"
"""A pod's backoff is over."""
POP_FROM_BACKOFF = "PopFromBackoffQ"
"""A pod is taken before its backoff is over, since no other is active."""

"""How long leaders hold, retry and wait.

Follows the validation of `NewLeaderElector` in client-go `tools/leaderelection/leaderelection.go` (1.36).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

JITTER_FACTOR = 1.2
"""A replica that waits for the lease waits up to this much longer than the retry period, at random."""


@dataclass(frozen=True, slots=True)
class ElectionSettings:
    """One replica's identity and the durations, in seconds, on which all replicas must agree.

    `lease_duration`: how long others leave a silent leader alone. `renew_deadline`: how long a leader tries
    to renew before it gives up; also how long it may write after a renewal. `retry_period`: between tries.
    The tolerated ratio of clock rates between two machines is lease_duration / renew_deadline.

    Raises ValueError for durations that could give two leaders, with upstream's texts.
    """

    identity: str
    lease_duration: float = 15.0
    renew_deadline: float = 10.0
    retry_period: float = 2.0

    def __post_init__(self) -> None:
        if self.lease_duration <= self.renew_deadline:
            raise ValueError("leaseDuration must be greater than renewDeadline")
        if self.renew_deadline <= JITTER_FACTOR * self.retry_period:
            raise ValueError("renewDeadline must be greater than retryPeriod*JitterFactor")
        for name, seconds in (("renewDeadline", self.renew_deadline), ("retryPeriod", self.retry_period)):
            if seconds <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if self.lease_seconds < 1:
            raise ValueError("leaseDuration must be at least one second: a Lease stores whole seconds")
        if not self.identity:
            raise ValueError("Lock identity is empty")

    @property
    def lease_seconds(self) -> int:
        """The lease duration as the Lease stores it, cut to whole seconds as upstream does."""
        return math.floor(self.lease_duration)

    @property
    def request_timeout(self) -> float:
        """How long one request may take: half the renew deadline, which leaves time for a second try."""
        return max(self.renew_deadline / 2, 1.0)

    @property
    def write_window(self) -> float:
        """How long after a renewal was asked for the leader may write.

        Never longer than the stored duration, which cutting to whole seconds may bring below the deadline.
        """
        return min(self.renew_deadline, float(self.lease_seconds))

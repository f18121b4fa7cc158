"""Leader election: of several replicas, at most one writes."""

from __future__ import annotations

from kubesched.leaderelection.elector import Callbacks, LeaderElector
from kubesched.leaderelection.lease import Lease, LeaseSpec
from kubesched.leaderelection.lock import ConflictError, LeaseApi, LeaseError, LeaseLock, NotFoundError
from kubesched.leaderelection.settings import JITTER_FACTOR, ElectionSettings

__all__ = [
    "JITTER_FACTOR",
    "Callbacks",
    "ConflictError",
    "ElectionSettings",
    "LeaderElector",
    "Lease",
    "LeaseApi",
    "LeaseError",
    "LeaseLock",
    "LeaseSpec",
    "NotFoundError",
]

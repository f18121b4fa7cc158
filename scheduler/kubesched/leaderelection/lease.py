"""The Lease object of coordination.k8s.io/v1, which replicas write in turn.

Metadata is kept as it came, so that an update loses no label or annotation of somebody else's.
"""

from __future__ import annotations

from typing import Any

import msgspec


class LeaseSpec(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Who holds the lease. Two specs are equal if nothing was renewed in between.

    The times are for people: no decision reads them, since they come from other machines' clocks.
    """

    holder_identity: str | None = None
    """None or empty: released, whoever comes first may take it."""
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None
    """How often the lease passed from one holder to another."""
    strategy: str | None = None
    preferred_holder: str | None = None

    @property
    def holder(self) -> str:
        """The holder's identity, empty if the lease is free."""
        return self.holder_identity or ""


class Lease(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A Lease as the API server stores it; `metadata.resourceVersion` guards every update."""

    api_version: str = "coordination.k8s.io/v1"
    kind: str = "Lease"
    metadata: dict[str, Any] = {}
    spec: LeaseSpec = LeaseSpec()


_decoder = msgspec.json.Decoder(Lease)
_encoder = msgspec.json.Encoder()


def decode(raw: bytes) -> Lease:
    """Read a Lease from the API server's JSON. Raises msgspec.DecodeError."""
    return _decoder.decode(raw)


def encode(lease: Lease) -> bytes:
    """Write a Lease as the API server reads it."""
    return _encoder.encode(lease)

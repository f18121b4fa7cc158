"""What can go wrong with a request: the server said no, or the answer never came.

The difference decides what a caller may conclude. An `ApiError` is an answer: nothing was done.
`UnreachableError` is not: a write may have been applied, and only reading back tells.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class ApiError(Exception):
    """The API server's refusal. `status` is HTTP's; `reason` and `message` are those of the Status object."""

    def __init__(self, status: int, reason: str, message: str, retry_after: float | None = None) -> None:
        self.status = status
        self.reason = reason
        self.message = message
        self.retry_after = retry_after
        super().__init__(message or f"{status} {reason}")

    @property
    def not_found(self) -> bool:
        """The object, or the whole resource, does not exist."""
        return self.status == 404

    @property
    def conflict(self) -> bool:
        """The write contradicts the stored object: changed, recreated, or already bound."""
        return self.status == 409

    @property
    def expired(self) -> bool:
        """The resource version is too old to be watched or listed from."""
        return self.status == 410 or self.reason in {"Expired", "Gone"}

    @property
    def too_large_version(self) -> bool:
        """The server that answered has not yet seen the resource version asked for."""
        return self.status == 504 and "Too large resource version" in self.message

    @property
    def retriable(self) -> bool:
        """The same request may succeed later, as upstream's `util.Retriable` says, without conflicts."""
        return self.status in {429, 500, 503} or self.too_large_version


class UnreachableError(Exception):
    """No answer: refused, reset, timed out, or cut. With `sent` False, nothing can have been applied."""

    def __init__(self, message: str, *, sent: bool) -> None:
        self.sent = sent
        super().__init__(message)


class Status(msgspec.Struct, frozen=True, rename="camel"):
    """The `Status` object with which the API server explains a refusal."""

    code: int = 0
    reason: str = ""
    message: str = ""


def from_response(status: int, headers: Mapping[str, str], body: bytes) -> ApiError:
    """The error that a response with a failing status carries, whether or not its body is a Status."""
    try:
        decoded = msgspec.json.decode(body, type=Status)
    except msgspec.DecodeError:
        decoded = Status(message=body[:256].decode(errors="replace").strip())
    header = headers.get("Retry-After", "")
    retry_after = float(header) if header.isdigit() else None
    return ApiError(status, decoded.reason, decoded.message, retry_after)

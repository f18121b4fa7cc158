"""The events of a watch as they are on the wire, so that they can be doubled, swapped, torn and forged.

JSON events are lines. Protobuf events have four bytes of length before them (k8s.io/apimachinery,
pkg/util/framer), and objects in them the prefix of pkg/runtime/serializer/protobuf; the few fields of an
error event are written by hand, since nothing else of protobuf is needed.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator

import msgspec

_LENGTH = 4
_MAGIC = b"k8s\x00"


async def frames(stream: AsyncIterable[bytes], content_type: str) -> AsyncIterator[bytes]:
    """Cut a stream into whole events, each as it came; what is left at the end comes last."""
    rest = b""
    async for chunk in stream:
        rest += chunk
        while (end := _end(rest, content_type)) is not None:
            yield rest[:end]
            rest = rest[end:]
    if rest:
        yield rest


def _end(data: bytes, content_type: str) -> int | None:
    """Where the first event in `data` ends, None if that has not come yet."""
    if not is_protobuf(content_type):
        return data.index(b"\n") + 1 if b"\n" in data else None
    if len(data) < _LENGTH:
        return None
    end = _LENGTH + int.from_bytes(data[:_LENGTH], "big")
    return end if len(data) >= end else None


def is_protobuf(content_type: str) -> bool:
    """True for Kubernetes' protobuf."""
    return content_type.startswith("application/vnd.kubernetes.protobuf")


def error_event(content_type: str, code: int, reason: str, message: str) -> bytes:
    """An ERROR event that carries a Status, as an API server ends a watch with."""
    if is_protobuf(content_type):
        status = _text(2, "Failure") + _text(3, message) + _text(4, reason) + _number(6, code)
        unknown = _bytes(1, _text(1, "v1") + _text(2, "Status")) + _bytes(2, status)
        event = _text(1, "ERROR") + _bytes(2, _bytes(1, _MAGIC + unknown))
        return len(event).to_bytes(_LENGTH, "big") + event
    return msgspec.json.encode({"type": "ERROR", "object": status_of(code, reason, message)}) + b"\n"


def status_of(code: int, reason: str, message: str) -> dict[str, object]:
    """A Status of failure as the API server writes it."""
    return {
        "apiVersion": "v1",
        "kind": "Status",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    }


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)

"""Events of a watch are told apart on the wire, and forged ones are what a client reads."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest

from schedlab.faults.frames import error_event, frames

PROTOBUF = "application/vnd.kubernetes.protobuf;stream=watch"


async def cut(chunks: list[bytes], content_type: str) -> list[bytes]:
    async def stream() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    return [frame async for frame in frames(stream(), content_type)]


def framed(*bodies: bytes) -> list[bytes]:
    return [len(body).to_bytes(4, "big") + body for body in bodies]


@pytest.mark.parametrize(
    ("content_type", "whole"),
    [("application/json", [b"a\n", b"bc\n", b"\n"]), (PROTOBUF, framed(b"a\nb", b"", b"x" * 300))],
    ids=["json", "protobuf"],
)
@pytest.mark.parametrize("size", [1, 3, 1000])
async def test_events_are_whole_however_they_arrive(content_type: str, whole: list[bytes], size: int) -> None:
    """Byte by byte, across their bounds, or all at once."""
    data = b"".join(whole)
    chunks = [data[start : start + size] for start in range(0, len(data), size)]
    assert await cut(chunks, content_type) == whole


async def test_what_is_left_comes_last() -> None:
    """A stream that ends within an event ends so on the other side, too."""
    assert await cut([b"a\nb"], "application/json") == [b"a\n", b"b"]


def test_an_error_event_in_json_is_a_line() -> None:
    """With a Status in it."""
    event = json.loads(error_event("application/json", 410, "Expired", "too old"))
    assert event["type"] == "ERROR"
    assert (event["object"]["kind"], event["object"]["code"]) == ("Status", 410)


def test_an_error_event_in_protobuf_is_as_the_api_server_writes_it() -> None:
    """The bytes of WatchEvent{ERROR, k8s\\0 Unknown{v1 Status, Status{Failure, too old, Expired, 410}}}."""
    status = b"\x12\x07Failure" + b"\x1a\x07too old" + b"\x22\x07Expired" + b"\x30\x9a\x03"
    unknown = b"\x0a\x0c\x0a\x02v1\x12\x06Status" + b"\x12" + bytes([len(status)]) + status
    raw = b"k8s\x00" + unknown
    inner = b"\x0a" + bytes([len(raw)]) + raw
    event = b"\x0a\x05ERROR" + b"\x12" + bytes([len(inner)]) + inner
    assert error_event(PROTOBUF, 410, "Expired", "too old") == len(event).to_bytes(4, "big") + event

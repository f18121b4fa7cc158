"""An object as the API server wrote it, for those outside who read more of it than a scheduler does.

HTTP extenders get whole pods and nodes. The bytes are kept beside the typed object, only where the
configuration names an extender.
"""

from __future__ import annotations

import msgspec

from kubesched.api.base import Object

_RAW = "_raw"
_TRIMMED = "_original"


def keep(obj: Object, raw: bytes) -> None:
    """Keep an object's JSON with it."""
    obj.__dict__[_RAW] = raw


def original(obj: Object) -> msgspec.Raw:
    """The object's JSON without `managedFields`; what the typed object holds where nothing was kept."""
    found = obj.__dict__.get(_TRIMMED)
    if found is None:
        raw = obj.__dict__.pop(_RAW, None)
        found = obj.__dict__[_TRIMMED] = msgspec.Raw(
            msgspec.json.encode(obj) if raw is None else _trimmed(raw)
        )
    whole: msgspec.Raw = found
    return whole


def _trimmed(raw: bytes) -> bytes:
    whole = msgspec.json.decode(raw)
    whole.get("metadata", {}).pop("managedFields", None)
    return msgspec.json.encode(whole)

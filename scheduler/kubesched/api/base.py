"""The common ground of all API types: struct settings, object metadata, timestamps.

Every type names only the fields a scheduler reads; msgspec skips the rest while decoding, which is what makes
one typed pass cheaper than parsing into dictionaries. All types are frozen: an object that the state holds is
shared by every reader, and a change is a new object.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import ClassVar, Generic, Self, TypeAlias, TypeVar, overload

import msgspec

Quantities: TypeAlias = dict[str, str | int | float]
"""A resource list as the API writes it: strings from the API server, numbers too in hand-written YAML."""


_T = TypeVar("_T")
_O = TypeVar("_O")


class derived(Generic[_O, _T]):  # noqa: N801 - used as a decorator, like property
    """A property worked out at most once per object and kept in the object's dictionary.

    Like functools.cached_property, without the lock that Python 3.11's takes: there is one thread.
    """

    def __init__(self, work_out: Callable[[_O], _T]) -> None:
        self._work_out = work_out
        self._name = work_out.__name__
        self.__doc__ = work_out.__doc__

    @overload
    def __get__(self, instance: None, owner: type[_O]) -> Self: ...
    @overload
    def __get__(self, instance: _O, owner: type[_O]) -> _T: ...
    def __get__(self, instance: _O | None, owner: type[_O]) -> _T | Self:
        """Work the value out. From then on the object's dictionary answers."""
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._work_out(instance)
        return value


class Value(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A part of an object: compared and hashed by content."""


class OwnerReference(Value, frozen=True, gc=False):
    """`metadata.ownerReferences[]`: which object controls this one."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False


class ObjectMeta(Value, frozen=True):
    """`metadata` of any object. Timestamps stay text until somebody asks (see `timestamp`)."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    labels: dict[str, str] = msgspec.field(default_factory=dict)
    annotations: dict[str, str] = msgspec.field(default_factory=dict)
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()


class Object(Value, frozen=True, eq=False, dict=True):
    """A top-level API object: identified by itself, never compared by content.

    `dict=True` gives the instance a dictionary, in which derived values are cached.
    """

    kind: ClassVar[str] = ""
    api_version: ClassVar[str] = ""

    metadata: ObjectMeta = ObjectMeta()

    def __repr__(self) -> str:
        """Write kind and key; whole objects fill a screen."""
        return f"{self.kind}({self.key})"

    @property
    def name(self) -> str:
        """The object's name."""
        return self.metadata.name

    @property
    def namespace(self) -> str:
        """The object's namespace, empty for a cluster-scoped object."""
        return self.metadata.namespace

    @property
    def uid(self) -> str:
        """The object's UID; its key where a hand-written object has none."""
        return self.metadata.uid or self.key

    @property
    def key(self) -> str:
        """`namespace/name`, or the name alone for a cluster-scoped object."""
        meta = self.metadata
        return f"{meta.namespace}/{meta.name}" if meta.namespace else meta.name

    @property
    def labels(self) -> dict[str, str]:
        """The object's labels; never write into them."""
        return self.metadata.labels

    @property
    def annotations(self) -> dict[str, str]:
        """The object's annotations; never write into them."""
        return self.metadata.annotations


def timestamp(text: str | None) -> float | None:
    """Read an RFC 3339 time as seconds since the epoch; None stays None.

    Raises ValueError naming the text when it is no such time.
    """
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        raise ValueError(f"{text!r} is not an RFC 3339 time") from None

"""A kind's objects as one list, and all kinds of a cluster at one moment.

A list is read whole from the API server's cache. An object that cannot be read is said and left out, so that
one malformed object costs only itself.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import msgspec

from kubesched import logs
from kubesched.api.objects import Object, decode
from kubesched.api.original import keep
from kubesched.client.errors import ApiError, UnreachableError
from kubesched.client.lanes import Lane
from kubesched.client.resources import WATCHED, Resource
from kubesched.client.rest import RestClient

_log = logs.get(__name__)


class Meta(msgspec.Struct, frozen=True, rename="camel"):
    """What of an object's metadata is needed when the rest cannot be read."""

    name: str = ""
    namespace: str = ""
    resource_version: str = ""

    @property
    def key(self) -> str:
        """The object's key, as `Object.key`."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class _Head(msgspec.Struct, frozen=True):
    metadata: Meta = Meta()


class _List(msgspec.Struct, frozen=True):
    metadata: Meta
    items: list[msgspec.Raw] | None = None


@dataclass(slots=True)
class Listing:
    """A kind at `version`. `broken` are the keys of objects that could not be read."""

    version: str
    objects: list[Object] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)


def head(raw: msgspec.Raw) -> Meta:
    """An object's metadata, empty where even that cannot be read."""
    try:
        return msgspec.json.decode(raw, type=_Head).metadata
    except msgspec.DecodeError:
        return Meta()


def read(kind: str, raw: msgspec.Raw, *, whole: bool = False) -> Object | None:
    """An object, with its JSON if it is wanted `whole`; None for one that cannot be read, which is said."""
    try:
        found = decode(kind, raw)
    except ValueError as error:
        _log.error("Ignoring an object that cannot be read", error, kind=kind, key=head(raw).key)
        return None
    if whole:
        keep(found, bytes(raw))
    return found


async def fetch(
    client: RestClient, resource: Resource, lane: Lane, version: str = "0", *, whole: bool = False
) -> Listing:
    """List a kind, at least as fresh as `version` ("0": whatever the server holds, "": the newest).

    `whole` objects come with their JSON.
    Raises ApiError, UnreachableError.
    """
    params = {"resourceVersion": version}
    if resource.selector:
        params["fieldSelector"] = resource.selector
    body = await client.get(resource.path, lane, params)
    with _gc_paused():
        try:
            listed = msgspec.json.decode(body, type=_List)
        except msgspec.DecodeError as error:
            raise UnreachableError(f"not a list: {error}", sent=True) from error
        listing = Listing(listed.metadata.resource_version)
        for raw in listed.items or ():
            found = read(resource.kind, raw, whole=whole)
            if found is None:
                listing.broken.append(head(raw).key)
            else:
                listing.objects.append(found)
    return listing


async def snapshot(client: RestClient, lane: Lane, resources: Iterable[Resource] = WATCHED) -> list[Object]:
    """Everything a scheduler would know of a cluster, kind by kind; kinds that are not served are left out.

    Raises ApiError, UnreachableError.
    """
    objects: list[Object] = []
    for resource in resources:
        try:
            listing = await fetch(client, resource, lane, "")
        except ApiError as error:
            if not error.not_found:
                raise
        else:
            objects += listing.objects
    return objects


@contextmanager
def _gc_paused() -> Iterator[None]:
    """Keep the collector from walking a big list again and again while it grows."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()

"""What a request to the API server asks for, read from its method and URL.

The words are those of RBAC and the audit log (k8s.io/apiserver, pkg/endpoints/request/requestinfo.go): a
GET of a collection is a `list`, with `watch` in its query a `watch`; `pods/binding` is a resource with its
subresource.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


@dataclass(frozen=True, slots=True)
class Asked:
    """One request; `resource` is empty for paths that are about no resource, such as /readyz."""

    verb: str
    resource: str = ""
    namespace: str = ""
    name: str = ""


def asked(method: str, path: str, query: Mapping[str, str]) -> Asked:
    """What is asked for."""
    parts = [part for part in path.split("/") if part]
    rest = _below_version(parts)
    if not rest:
        return Asked(_VERBS.get(method, method.lower()))
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2:
        namespace, rest = rest[1], rest[2:]
    resource, name = rest[0], rest[1] if len(rest) > 1 else ""
    if len(rest) > 2:
        resource = f"{resource}/{rest[2]}"
    return Asked(_verb(method, name, query), resource, namespace, name)


def _below_version(parts: list[str]) -> list[str]:
    """What follows /api/v1 or /apis/GROUP/VERSION."""
    if parts[:1] == ["api"]:
        return parts[2:]
    return parts[3:] if parts[:1] == ["apis"] else []


def _verb(method: str, name: str, query: Mapping[str, str]) -> str:
    if method == "GET":
        if query.get("watch") in ("true", "1"):
            return "watch"
        return "get" if name else "list"
    if method == "DELETE" and not name:
        return "deletecollection"
    return _VERBS.get(method, method.lower())

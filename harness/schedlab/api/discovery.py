"""Which path a kind lives under, asked from the API server once per group version."""

from __future__ import annotations

from dataclasses import dataclass

from schedlab.api.objects import Object, kind_key


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind as the API server serves it."""

    api_version: str
    kind: str
    plural: str
    namespaced: bool

    @property
    def key(self) -> str:
        """The kind regardless of its version."""
        return kind_key(self.api_version, self.kind)

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """The URL path of one object, of a namespace's objects, or of all objects of the kind."""
        root = "apis" if "/" in self.api_version else "api"
        parts = ["", root, self.api_version]
        if self.namespaced and namespace:
            parts += ["namespaces", namespace]
        parts += [part for part in (self.plural, name, subresource) if part]
        return "/".join(parts)


def group_path(api_version: str) -> str:
    """Where the API server lists the kinds of one group version."""
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def parse(answer: Object) -> dict[str, Resource]:
    """The kinds of an APIResourceList by name; subresources are left out."""
    version = str(answer["groupVersion"])
    return {
        entry["kind"]: Resource(version, entry["kind"], entry["name"], entry["namespaced"])
        for entry in answer["resources"]
        if "/" not in entry["name"]
    }

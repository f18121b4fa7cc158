"""HTTP extenders of a test: canned answers, given to any scheduler that speaks the extender protocol.

The runner serves them and adds them to the scheduler's configuration. Nodes are told apart by their labels,
since names are known only when the test runs.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

Labels = dict[str, str]


class _Part(Struct, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """A part of a document; unknown fields are errors."""


class Refusal(_Part):
    """Why nodes are refused."""

    labels: Annotated[Labels, Meta(description="The nodes that carry all of these.")]
    message: str


class Score(_Part):
    """What nodes are given."""

    labels: Annotated[Labels, Meta(description="The nodes that carry all of these.")]
    score: Annotated[int, Meta(description="Usually 0 to 10.")]


class Reply(_Part):
    """How a verb misbehaves; by default it does not."""

    status: Annotated[int, Meta(description="Answer with this HTTP status instead.")] = 200
    silent: Annotated[bool, Meta(description="Never answer, until the caller hangs up.")] = False


class Filter(Reply):
    """Which nodes stay."""

    keep: Annotated[
        Labels, Meta(description="Only nodes that carry all of these; the others silently go.")
    ] = {}
    failed: Annotated[list[Refusal], Meta(description="Refused, and evictions may help.")] = []
    failed_and_unresolvable: Annotated[
        list[Refusal], Meta(description="Refused, and no eviction will help.")
    ] = []
    error: Annotated[str, Meta(description="Answer with this error.")] = ""


class Prioritize(Reply):
    """What nodes are given; nothing for the others."""

    scores: list[Score] = []


class Preempt(Reply):
    """On which nodes pods may be preempted."""

    keep: Annotated[Labels, Meta(description="Only nodes that carry all of these.")] = {}
    no_victims: Annotated[Labels, Meta(description="Say of nodes with all of these that nobody goes.")] = {}


class Bind(Reply):
    """Binds the pod, and writes the annotation `schedlab/bound-by: extender` on it."""

    error: Annotated[str, Meta(description="Answer with this error instead of binding.")] = ""


class ExtenderNeeds(_Part):
    """One extender. A verb that is not given is not configured."""

    config: Annotated[
        dict[str, Any],
        Meta(
            description="More of its entry in the KubeSchedulerConfiguration: nodeCacheCapable, ignorable, "
            "weight (1 unless given), managedResources, httpTimeout. URL, verbs and TLS are filled in."
        ),
    ] = {}
    https: Annotated[
        Literal["", "verified", "mutual", "insecure", "untrusted"],
        Meta(
            description="Serve over TLS: `verified` with a CA and a server name to check, `mutual` also asks "
            "for the scheduler's certificate, `insecure` is not checked, `untrusted` is signed by another CA."
        ),
    ] = ""
    filter: Filter | None = None
    prioritize: Prioritize | None = None
    preempt: Preempt | None = None
    bind: Bind | None = None

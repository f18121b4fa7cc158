"""What `schedlab status` says about one control plane."""

from __future__ import annotations

import collections
from pathlib import Path

import aiohttp

from schedlab.cluster.api import ApiClient, takes_pods
from schedlab.cluster.nodes import PROFILE
from schedlab.cluster.state import ClusterRecord


async def node_summary(record: ClusterRecord) -> str:
    """Its nodes by profile, and how many of them can take pods; or why that cannot be said."""
    if not record.server:
        return "it is starting"
    try:
        async with ApiClient.of(record.layout, record.server) as client:
            _, listing = await client.request("GET", "/api/v1/nodes?resourceVersion=0")
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        return f"the API server does not answer ({type(error).__name__})"
    items = listing["items"]
    kinds = collections.Counter(node["metadata"].get("labels", {}).get(PROFILE, "other") for node in items)
    parts = ", ".join(f"{kind}={count}" for kind, count in sorted(kinds.items()))
    ready = sum(takes_pods(node) for node in items)
    return f"{len(items)} ({parts}), {ready} Ready" if items else "none"


def describe(record: ClusterRecord, nodes: str) -> str:
    """A few lines: where it is reached, whose it is, each component with version, port, pid and log."""
    if record.owner is None:
        owner = "nobody (stays until `schedlab down`)"
    else:
        owner = f"pid {record.owner.pid}" + (
            "" if record.owner.alive else " (gone; the next start removes this)"
        )
    lines = [
        f"{record.name}  {record.server}",
        f"  id          {record.id}, since {record.created}",
        f"  owner       {owner}",
        f"  kubeconfig  {record.layout.kubeconfig('admin')}",
        f"  logs        {record.layout.directory / 'logs'}",
        f"  nodes       {nodes}",
    ]
    for process in record.processes:
        state = f"pid {process.identity.pid}" if process.identity.alive else "ended"
        port = record.ports.get(process.name)
        version = record.versions.get(process.name, Path(process.argv[0]).name)
        lines.append(f"  {process.name:26} {version:10} {state:12} {f'port {port}' if port else ''}".rstrip())
    return "\n".join(lines)

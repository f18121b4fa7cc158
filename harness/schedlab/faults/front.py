"""The proxies of one test: every scheduler process that it starts gets one of its own."""

from __future__ import annotations

from pathlib import Path

from schedlab.cluster import pki
from schedlab.cluster.backend import ControlPlane
from schedlab.errors import UsageError
from schedlab.faults.proxy import Proxy, Upstream
from schedlab.faults.rules import Fault, Faults


class Front:
    """Stands before a control plane; whoever is given `open`'s kubeconfig is within reach of faults."""

    def __init__(self, control_plane: ControlPlane) -> None:
        self._control_plane = control_plane
        self._faults = Faults()
        self._proxies: dict[str, Proxy] = {}

    async def open(self, process: str, kubeconfig: Path) -> Path:
        """Start a proxy with the credential of a kubeconfig; returns the kubeconfig that leads to it."""
        pair = pki.extract(kubeconfig)
        upstream = Upstream(self._control_plane.server, pair.authority, pair.certificate, pair.key)
        port = self._control_plane.reserve_port()
        proxy = Proxy(process, port, upstream, self._faults)
        await proxy.start(*self._control_plane.serving_pair)
        self._proxies[process] = proxy
        return pki.redirected(kubeconfig, proxy.url)

    def begin(self, fault: Fault) -> str:
        """Put a fault in force, for open connections, too; returns its name.

        Raises:
            UsageError: it names a process that has no proxy.
        """
        unknown = [name for name in fault.processes if name not in self._proxies]
        if unknown:
            known = ", ".join(self._proxies)
            raise UsageError(f"no process {unknown[0]!r} goes through a proxy", hint=f"there are {known}")
        name = self._faults.add(fault)
        for proxy in self._proxies.values():
            proxy.began(fault)
        return name

    def end(self, name: str | None) -> None:
        """End one fault, or all.

        Raises:
            UsageError: there is none of this name.
        """
        if name is None:
            self._faults.clear()
        elif not self._faults.end(name):
            raise UsageError(f"no fault {name!r} is in force", hint="bind it with `as` when it begins")

    async def close(self) -> None:
        """Stop all proxies and give their ports back; a second call does nothing."""
        while self._proxies:
            _, proxy = self._proxies.popitem()
            await proxy.stop()
            self._control_plane.release_port(proxy.port)

"""The secure port of a process, as its flags ask for it.

The reviews go to the API server that `--authentication-kubeconfig` and `--authorization-kubeconfig` name, or
to that of the cluster the process runs in; with neither, only the open paths are answered, and everything
else is refused. Follows `DelegatingAuthenticationOptions` and `DelegatingAuthorizationOptions`.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from prometheus_client import CollectorRegistry

from kubesched import logs
from kubesched.client.errors import ApiError, UnreachableError
from kubesched.client.kubeconfig import KubeconfigError, in_cluster, load
from kubesched.client.lanes import Lane
from kubesched.client.rest import RestClient
from kubesched.clock import Clock
from kubesched.config.load import dump
from kubesched.config.options import Options
from kubesched.serving.certificates import server_context
from kubesched.serving.health import Health
from kubesched.serving.reviews import Authenticator, Authorizer
from kubesched.serving.server import Page, Server
from kubesched.serving.zpages import flagz, statusz

_log = logs.get(__name__)

# Seconds between two looks at files and at the cluster's client CA.
_RELOAD = 60.0
_PATHS = ("/configz", "/flagz", "/healthz", "/livez", "/metrics", "/readyz")
_AUTHENTICATION = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"


def redacted(configuration: dict[str, Any]) -> dict[str, Any]:
    """The configuration as it may be shown: without the private keys of extenders' clients."""
    for extender in configuration.get("extenders", ()):
        if "keyData" in extender.get("tlsConfig", {}):
            extender["tlsConfig"]["keyData"] = "REDACTED"
    return configuration


class ServingError(Exception):
    """The port cannot be served as asked."""


class _ConfigMap(msgspec.Struct, frozen=True):
    data: dict[str, str] = {}


class SecurePort:
    """Starts and stops the server; `health` is what its checks look at."""

    def __init__(
        self,
        options: Options,
        registry: CollectorRegistry,
        clock: Clock,
        lane: Lane,
        version: str,
        *,
        pages: Mapping[str, Page] | None = None,
    ) -> None:
        """`pages` are further paths to serve, each with what writes its text."""
        flags = options.flags
        self._pages = {
            **(pages or {}),
            "/statusz": statusz(clock, version, _PATHS),
            "/flagz": lambda: flagz(flags),
        }
        self.health = Health()
        self._options = options
        self._registry = registry
        self._clock = clock
        self._lane = lane
        self._version = version
        self._clients: list[RestClient] = []
        self._server: Server | None = None
        self._reload: asyncio.Task[None] | None = None
        self._current: ssl.SSLContext | None = None
        self._loaded: tuple[object, ...] = ()

    async def start(self) -> None:
        """Listen, unless the port is 0. Raises ServingError, or OSError when the port is taken."""
        flags = self._options.flags
        port = int(flags.number("secure-port"))
        if port == 0:
            return
        authentication = self._client("authentication-kubeconfig")
        authorization = self._client("authorization-kubeconfig")
        context = self._reloading(await self._client_ca(authentication))
        self._reload = asyncio.create_task(self._keep_fresh(authentication))
        self._server = Server(
            Authenticator(
                authentication,
                self._lane,
                self._clock,
                seconds=flags.number("authentication-token-webhook-cache-ttl"),
            ),
            Authorizer(
                authorization,
                self._lane,
                self._clock,
                open_paths=flags.items("authorization-always-allow-paths"),
                allowed_seconds=flags.number("authorization-webhook-cache-authorized-ttl"),
                refused_seconds=flags.number("authorization-webhook-cache-unauthorized-ttl"),
            ),
            state=self.health,
            registry=self._registry,
            configuration=redacted(dump(self._options.config)),
            pages=self._pages,
        )
        await self._server.start(
            flags.text("bind-address"),
            port,
            context,
            reuse_address=flags.on("permit-address-sharing"),
            reuse_port=flags.on("permit-port-sharing"),
        )

    async def stop(self) -> None:
        """Close the server and its connections to the API server."""
        if self._reload is not None:
            self._reload.cancel()
            await asyncio.gather(self._reload, return_exceptions=True)
        if self._server is not None:
            await self._server.stop()
        for client in self._clients:
            await client.close()

    def _client(self, flag: str) -> RestClient | None:
        path = self._options.flags.text(flag)
        try:
            endpoint = load(path, self._clock) if path else in_cluster(self._clock, os.environ)
        except KubeconfigError as error:
            if path:
                raise ServingError(f"--{flag}: {error}") from error
            _log.warning(
                "Requests to protected paths will be refused", reason=f"no --{flag}, not in a cluster"
            )
            return None
        client = RestClient(endpoint, self._clock, user_agent=f"kubesched/{self._version} serving")
        self._clients.append(client)
        return client

    def _reloading(self, client_ca: str) -> ssl.SSLContext:
        """A context whose handshakes use whatever was loaded last."""
        context = self._current = self._context(client_ca)
        self._loaded = (client_ca, *self._stamps())

        def use_current(handshake: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> None:
            if self._current is not None:
                handshake.context = self._current

        context.sni_callback = use_current
        return context

    async def _keep_fresh(self, client: RestClient | None) -> None:
        """Load certificate, key and client CA again once they have changed, if they can be used."""
        while True:
            await self._clock.sleep(_RELOAD)
            try:
                client_ca = await self._client_ca(client) or str(self._loaded[0])
                loaded = (client_ca, *self._stamps())
                if loaded != self._loaded:
                    self._current = self._context(client_ca)
                    self._loaded = loaded
                    _log.info("Reloaded the certificates of the secure port")
            except (ServingError, OSError) as error:
                _log.error("Going on with the certificates of before", error)

    def _stamps(self) -> list[float]:
        return [path.stat().st_mtime for path in self._pair() or ()]

    async def _client_ca(self, client: RestClient | None) -> str:
        """The CA of client certificates: from the flag, else the cluster's own."""
        flags = self._options.flags
        if path := flags.text("client-ca-file"):
            return await asyncio.to_thread(Path(path).read_text)
        if client is None or flags.on("authentication-skip-lookup"):
            return ""
        try:
            raw = await client.get(_AUTHENTICATION, self._lane)
            return msgspec.json.decode(raw, type=_ConfigMap).data.get("client-ca-file", "")
        except (ApiError, UnreachableError, msgspec.DecodeError) as error:
            if not flags.on("authentication-tolerate-lookup-failure"):
                raise ServingError(f"unable to load configmap based client CA: {error}") from error
            _log.warning("Client certificates will not be recognised", err=error)
            return ""

    def _context(self, client_ca: str) -> ssl.SSLContext:
        certificate, key = self._pair() or (None, None)
        try:
            return server_context(
                certificate,
                key,
                client_ca=client_ca,
                lowest=self._options.flags.text("tls-min-version"),
                wall=self._clock.wall(),
            )
        except (OSError, ssl.SSLError) as error:
            raise ServingError(f"unable to load server certificate: {error}") from error

    def _pair(self) -> tuple[Path, Path] | None:
        """The files of certificate and key; None when there are none and a self-signed pair is made."""
        flags = self._options.flags
        certificate, key = flags.text("tls-cert-file"), flags.text("tls-private-key-file")
        if certificate:
            return Path(certificate), Path(key)
        directory = flags.text("cert-dir")
        pair = Path(directory) / "kube-scheduler.crt", Path(directory) / "kube-scheduler.key"
        return pair if directory and all(file.exists() for file in pair) else None

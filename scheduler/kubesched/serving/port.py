"""The secure port of a process, as its flags ask for it.

The reviews go to the API server that `--authentication-kubeconfig` and `--authorization-kubeconfig` name, or
to that of the cluster the process runs in; with neither, only the open paths are answered, and everything
else is refused. Follows `DelegatingAuthenticationOptions` and `DelegatingAuthorizationOptions`.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from prometheus_client import CollectorRegistry

from kubesched import logs
from kubesched.client.errors import ApiError, UnreachableError
from kubesched.client.kubeconfig import KubeconfigError, in_cluster, load
from kubesched.client.lanes import Lane
from kubesched.client.rest import RestClient
from kubesched.client.traffic import Traffic
from kubesched.clock import Clock
from kubesched.config.extended import as_run
from kubesched.config.load import dump
from kubesched.config.options import Options
from kubesched.config.problems import failed_to_open
from kubesched.exposition import Exposition
from kubesched.serving import debugging
from kubesched.serving.certificates import self_signed, server_context, write_self_signed
from kubesched.serving.health import Health
from kubesched.serving.review_metrics import ReviewMetrics
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
        traffic: Callable[[str], Traffic] | None = None,
    ) -> None:
        """`pages` are further paths to serve, each with what writes its text.

        `traffic` gives, for the address of an API server, what counts the requests to it.
        """
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
        self._traffic = traffic
        self._clients: list[RestClient] = []
        self._server: Server | None = None
        self._reload: asyncio.Task[None] | None = None
        self._tls = options.tls
        self._metrics = ReviewMetrics(registry)
        self._own: bytes | None = None
        self._loaded: tuple[object, ...] = ()

    async def start(self) -> None:
        """Listen, unless the port is 0. Raises ServingError, or OSError when the port is taken."""
        flags = self._options.flags
        port = int(flags.number("secure-port"))
        if port == 0:
            return
        authentication = self._client("authentication-kubeconfig")
        authorization = self._client("authorization-kubeconfig")
        client_ca = await self._client_ca(authentication)
        context, self._loaded = self._context(client_ca), (client_ca, *self._stamps())
        self._server = Server(
            Authenticator(
                authentication,
                self._lane,
                self._clock,
                seconds=flags.number("authentication-token-webhook-cache-ttl"),
                metrics=self._metrics,
            ),
            Authorizer(
                authorization,
                self._lane,
                self._clock,
                open_paths=flags.items("authorization-always-allow-paths"),
                allowed_seconds=flags.number("authorization-webhook-cache-authorized-ttl"),
                refused_seconds=flags.number("authorization-webhook-cache-unauthorized-ttl"),
                metrics=self._metrics,
            ),
            state=self.health,
            registry=Exposition(self._registry, self._options.metrics),
            configuration=redacted(dump(as_run(self._options.config))),
            pages=self._pages,
            routes=debugging.routes() if self._options.config.enable_profiling else (),
        )
        await self._server.start(
            flags.text("bind-address"), port, context, reuse_port=flags.on("permit-port-sharing")
        )
        self._reload = asyncio.create_task(self._keep_fresh(self._server, authentication))

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
        client = RestClient(
            endpoint,
            self._clock,
            user_agent=f"kubesched/{self._version} serving",
            traffic=self._traffic and self._traffic(endpoint.server),
        )
        self._clients.append(client)
        return client

    async def _keep_fresh(self, server: Server, client: RestClient | None) -> None:
        """Load certificates, keys and client CA again once they have changed, if they can be used.

        A client CA that was not there when the process started counts from when it appears.
        """
        while True:
            await self._clock.sleep(_RELOAD)
            try:
                client_ca = await self._client_ca(client) or str(self._loaded[0])
                loaded = (client_ca, *self._stamps())
                if loaded != self._loaded:
                    await server.renew(self._context(client_ca))
                    self._loaded = loaded
                    _log.info("Reloaded the certificates of the secure port")
            except (ServingError, OSError) as error:
                _log.error("Going on with the certificates of before", error)

    def _stamps(self) -> list[float]:
        named = [path for pair in self._tls.named for path in (pair.certificate, pair.key)]
        return [path.stat().st_mtime for path in (*(self._pair() or ()), *named)]

    async def _client_ca(self, client: RestClient | None) -> str:
        """The CA of client certificates: from the flag, else the cluster's own."""
        flags = self._options.flags
        if path := flags.text("client-ca-file"):
            try:
                return await asyncio.to_thread(Path(path).read_text)
            except OSError as error:
                raise ServingError(f"unable to load client CA provider: {failed_to_open(error)}") from error
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
        try:
            return server_context(self._pair() or self._own_pair(), client_ca=client_ca, tls=self._tls)
        except OSError as error:
            why = str(error) if isinstance(error, ssl.SSLError) else failed_to_open(error)
            raise ServingError(f"unable to load server certificate: {why}") from error

    def _own_pair(self) -> bytes:
        """A self-signed pair that lives as long as the process."""
        if self._own is None:
            self._own = b"".join(self_signed(self._clock.wall()))
        return self._own

    def _pair(self) -> tuple[Path, Path] | None:
        """The files of certificate and key; None when neither they nor a directory to keep them are named."""
        flags = self._options.flags
        certificate, key = flags.text("tls-cert-file"), flags.text("tls-private-key-file")
        if certificate:
            return Path(certificate), Path(key)
        directory = flags.text("cert-dir")
        if not directory:
            return None
        pair = Path(directory) / "kube-scheduler.crt", Path(directory) / "kube-scheduler.key"
        if not any(file.exists() for file in pair):
            write_self_signed(*pair, self._clock.wall())
        return pair

"""The secure port of a process, as its flags ask for it.

The reviews go to the API server that `--authentication-kubeconfig` and `--authorization-kubeconfig` name, or
to that of the cluster the process runs in; with neither, only the open paths are answered, and everything
else is refused. Follows `DelegatingAuthenticationOptions` and `DelegatingAuthorizationOptions`.
"""

from __future__ import annotations

import asyncio
import os
import ssl
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
from kubesched.serving.server import Server

_log = logs.get(__name__)

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
        self, options: Options, registry: CollectorRegistry, clock: Clock, lane: Lane, version: str
    ) -> None:
        self.health = Health()
        self._options = options
        self._registry = registry
        self._clock = clock
        self._lane = lane
        self._version = version
        self._clients: list[RestClient] = []
        self._server: Server | None = None

    async def start(self) -> None:
        """Listen, unless the port is 0. Raises ServingError, or OSError when the port is taken."""
        flags = self._options.flags
        port = int(flags.number("secure-port"))
        if port == 0:
            return
        authentication = self._client("authentication-kubeconfig")
        authorization = self._client("authorization-kubeconfig")
        context = self._context(await self._client_ca(authentication))
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
            version=self._version,
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
        flags = self._options.flags
        certificate, key = flags.text("tls-cert-file"), flags.text("tls-private-key-file")
        if not certificate and (directory := flags.text("cert-dir")):
            pair = [Path(directory) / f"kube-scheduler.{suffix}" for suffix in ("crt", "key")]
            if all(file.exists() for file in pair):
                certificate, key = map(str, pair)
        try:
            return server_context(
                Path(certificate) if certificate else None,
                Path(key) if key else None,
                client_ca=client_ca,
                lowest=flags.text("tls-min-version"),
                wall=self._clock.wall(),
            )
        except (OSError, ssl.SSLError) as error:
            raise ServingError(f"unable to load server certificate: {error}") from error

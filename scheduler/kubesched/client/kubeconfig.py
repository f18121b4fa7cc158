"""Where the API server is and how to be known there: a kubeconfig file, or the pod's service account.

A kubeconfig is used only when it is named; `~/.kube/config` is never picked up by itself. What cannot be
honoured (an auth-provider) is refused rather than ignored. Follows `client-go/tools/clientcmd`.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import yaml

from kubesched.client.proxies import ProxyError, checked, proxy_for
from kubesched.client.tokens import ExecToken, FileToken, StaticToken, TokenSource
from kubesched.clock import Clock

_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


class KubeconfigError(ValueError):
    """A kubeconfig that is missing, malformed, or asks for what is not supported."""


class Cluster(msgspec.Struct, frozen=True, rename="kebab"):
    """`clusters[].cluster`."""

    server: str = ""
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""


class Exec(msgspec.Struct, frozen=True, rename="camel"):
    """`users[].user.exec`."""

    command: str
    api_version: str
    args: list[str] | None = None
    env: list[dict[str, str]] | None = None
    interactive_mode: str = "IfAvailable"


class User(msgspec.Struct, frozen=True, rename="kebab"):
    """`users[].user`."""

    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    token: str = ""
    token_file: str = msgspec.field(default="", name="tokenFile")
    username: str = ""
    password: str = ""
    exec: Exec | None = None
    auth_provider: dict[str, Any] | None = None
    impersonate: str = msgspec.field(default="", name="as")


class _Context(msgspec.Struct, frozen=True):
    cluster: str = ""
    user: str = ""


class _Kubeconfig(msgspec.Struct, frozen=True, rename="kebab"):
    clusters: list[dict[str, Any]] = []
    users: list[dict[str, Any]] = []
    contexts: list[dict[str, Any]] = []
    current_context: str = ""


@dataclass(frozen=True)
class Pem:
    """A PEM document: a file, which is read again when it changes, or data."""

    path: Path | None = None
    data: bytes = b""

    def read(self) -> bytes:
        """The document. Raises OSError."""
        return self.data or (self.path.read_bytes() if self.path else b"")

    def __bool__(self) -> bool:
        return bool(self.data) or self.path is not None


@dataclass(frozen=True)
class Endpoint:
    """Everything needed to talk to one API server. `proxy` is the forward proxy to go through, if any."""

    server: str
    tokens: TokenSource
    ca: Pem = Pem()
    certificate: Pem = Pem()
    key: Pem = Pem()
    verify: bool = True
    server_name: str = ""
    headers: Mapping[str, str] | None = None
    proxy: str | None = None


def load(
    path: Path | str,
    clock: Clock,
    *,
    context: str = "",
    server: str = "",
    environ: Mapping[str, str] = os.environ,
) -> Endpoint:
    """The endpoint of a kubeconfig's current or named context; `server` overrides the address.

    Its `proxy-url` counts, or else what `environ` says of proxies. Raises KubeconfigError, which names the
    file and the entry.
    """
    path = Path(path)
    try:
        plain = yaml.safe_load(path.read_bytes())
        config = msgspec.convert(plain, _Kubeconfig)
    except OSError as error:
        raise KubeconfigError(f"stat {path}: {os.strerror(error.errno or 0).lower()}") from error
    except (yaml.YAMLError, msgspec.ValidationError) as error:
        raise KubeconfigError(f"{path}: not a kubeconfig: {error}") from error
    name = context or config.current_context
    if not name:
        raise KubeconfigError(f"{path}: no current-context, and none was named")
    chosen = _entry(path, config.contexts, "context", name, _Context)
    cluster = _entry(path, config.clusters, "cluster", chosen.cluster, Cluster)
    user = _entry(path, config.users, "user", chosen.user, User) if chosen.user else User()
    return _endpoint(path, cluster, user, clock, server=server, environ=environ)


def in_cluster(clock: Clock, environ: Mapping[str, str], root: Path = _SERVICE_ACCOUNT) -> Endpoint:
    """The endpoint of the pod's own service account. Raises KubeconfigError outside a cluster."""
    host, port = environ.get("KUBERNETES_SERVICE_HOST"), environ.get("KUBERNETES_SERVICE_PORT")
    if not host or not port:
        raise KubeconfigError(
            "no --kubeconfig or --master, no clientConnection.kubeconfig, and not inside a cluster "
            "(KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set)"
        )
    address = f"[{host}]" if ":" in host else host
    server = f"https://{address}:{port}"
    return Endpoint(
        server=server,
        tokens=FileToken(root / "token", clock),
        ca=Pem(root / "ca.crt"),
        proxy=environment_proxy(server, environ),
    )


def resolve(kubeconfig: str, master: str, clock: Clock, environ: Mapping[str, str]) -> Endpoint:
    """The endpoint kube-scheduler would use: kubeconfig under `--master`, `--master` alone, or in cluster."""
    if kubeconfig:
        return load(kubeconfig, clock, server=master, environ=environ)
    if master:
        server = _checked_server(master)
        return Endpoint(server, StaticToken(None), proxy=environment_proxy(server, environ))
    return in_cluster(clock, environ)


def environment_proxy(server: str, environ: Mapping[str, str]) -> str | None:
    """The proxy that HTTPS_PROXY and its kin name for a server. Raises KubeconfigError."""
    try:
        return proxy_for(server, environ)
    except ProxyError as error:
        raise KubeconfigError(str(error)) from error


def _proxy(path: Path, cluster: Cluster, server: str, environ: Mapping[str, str]) -> str | None:
    if not cluster.proxy_url:
        return environment_proxy(server, environ)
    try:
        return checked(cluster.proxy_url, f"{path}: proxy-url")
    except ProxyError as error:
        raise KubeconfigError(str(error)) from error


def _endpoint(
    path: Path, cluster: Cluster, user: User, clock: Clock, *, server: str, environ: Mapping[str, str]
) -> Endpoint:
    where = path.parent
    server = _checked_server(server or cluster.server)
    if cluster.insecure_skip_tls_verify and not _is_loopback(server):
        raise KubeconfigError(f"{path}: insecure-skip-tls-verify is refused except on loopback: give the CA")
    certificate = _pem(path, where, user.client_certificate, user.client_certificate_data)
    key = _pem(path, where, user.client_key, user.client_key_data)
    if bool(certificate) != bool(key):
        raise KubeconfigError(f"{path}: client-certificate and client-key go together")
    headers = {"Impersonate-User": user.impersonate} if user.impersonate else {}
    if user.username:
        basic = base64.b64encode(f"{user.username}:{user.password}".encode()).decode()
        headers["Authorization"] = f"Basic {basic}"
    return Endpoint(
        server=server,
        tokens=_tokens(path, where, user, clock),
        ca=_pem(path, where, cluster.certificate_authority, cluster.certificate_authority_data),
        certificate=certificate,
        key=key,
        verify=not cluster.insecure_skip_tls_verify,
        server_name=cluster.tls_server_name,
        headers=headers,
        proxy=_proxy(path, cluster, server, environ),
    )


def _tokens(path: Path, where: Path, user: User, clock: Clock) -> TokenSource:
    """A token in the file wins over a token file, which wins over a helper; as upstream."""
    if user.auth_provider is not None:
        raise KubeconfigError(f"{path}: auth-provider was removed from Kubernetes: use exec")
    if user.token_file:
        return FileToken(where / user.token_file, clock)
    if user.token:
        return StaticToken(user.token)
    if user.exec is None:
        return StaticToken(None)
    if user.exec.interactive_mode == "Always":
        raise KubeconfigError(
            f"{path}: exec plugin {user.exec.command} wants a terminal; a scheduler has none"
        )
    command = user.exec.command
    if "/" in command and not Path(command).is_absolute():
        command = str(where / command)
    env = {item["name"]: item.get("value", "") for item in user.exec.env or ()}
    return ExecToken([command, *(user.exec.args or ())], env, user.exec.api_version, clock, cwd=where)


Section = Any


def _entry(path: Path, entries: list[dict[str, Any]], what: str, name: str, kind: type[Section]) -> Section:
    found = next((entry.get(what) for entry in entries if entry.get("name") == name), None)
    if found is None:
        raise KubeconfigError(f'{path}: {what} "{name}" does not exist')
    try:
        return msgspec.convert(found, kind)
    except msgspec.ValidationError as error:
        raise KubeconfigError(f'{path}: {what} "{name}": {error}') from error


def _pem(path: Path, where: Path, file: str, data: str) -> Pem:
    if data:
        try:
            return Pem(data=base64.b64decode(data, validate=True))
        except binascii.Error as error:
            raise KubeconfigError(f"{path}: certificate or key data is not base64: {error}") from error
    return Pem(where / file) if file else Pem()


def _checked_server(server: str) -> str:
    if "://" not in server:
        server = f"http://{server}"
    parts = urlsplit(server)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise KubeconfigError(f"invalid server address: {server!r}")
    try:
        parts.port  # noqa: B018 - reading it checks it
    except ValueError as error:
        raise KubeconfigError(f'host must be a URL or a host:port pair: "{server}"') from error
    return server.rstrip("/")


def _is_loopback(server: str) -> bool:
    host = urlsplit(server).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"

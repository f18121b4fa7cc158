"""Bearer tokens: fixed, from a file that is rewritten, or from a helper program.

A service account's token is replaced on disk well before it expires, so it is read again at most a minute
later, and at once when the server answers 401. A helper runs only because the kubeconfig that names it was
given explicitly. Follows `client-go/transport/token_source.go` and `plugin/pkg/client/auth/exec`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Protocol

import msgspec

from kubesched.client.errors import UnreachableError
from kubesched.clock import Clock

_REREAD = 60.0
_EXPIRY_MARGIN = 10.0
_HELPER_TIMEOUT = 60.0


class CredentialError(UnreachableError):
    """A credential that is configured cannot be had, so no request can be sent."""

    def __init__(self, message: str) -> None:
        super().__init__(message, sent=False)


class TokenSource(Protocol):
    """Gives the token to send now."""

    async def token(self) -> str | None:
        """The token, or None to send none. Raises CredentialError."""
        ...

    def invalidate(self) -> None:
        """Forget a remembered token: the server refused it."""
        ...


class StaticToken:
    """A token that never changes; None is no token."""

    def __init__(self, token: str | None) -> None:
        self._token = token

    async def token(self) -> str | None:
        """The token."""
        return self._token

    def invalidate(self) -> None:
        """Nothing to forget."""


class FileToken:
    """A token in a file that somebody else renews."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path = path
        self._clock = clock
        self._token: str | None = None
        self._read_at = 0.0

    async def token(self) -> str | None:
        """The file's content, at most a minute old. A file that vanished leaves the last token in use."""
        if self._token is None or self._clock.now() - self._read_at >= _REREAD:
            try:
                token = self._path.read_text().strip()
            except OSError as error:
                if self._token is None:
                    raise CredentialError(f"cannot read token file: {error}") from error
            else:
                if not token and self._token is None:
                    raise CredentialError(f"token file {self._path} is empty")
                self._token = token or self._token
            self._read_at = self._clock.now()
        return self._token

    def invalidate(self) -> None:
        """Read the file again before the next request."""
        self._read_at = -_REREAD


class _ExecStatus(msgspec.Struct, frozen=True, rename="camel"):
    token: str = ""
    client_certificate_data: str = ""
    expiration_timestamp: str | None = None


class _ExecCredential(msgspec.Struct, frozen=True, rename="camel"):
    status: _ExecStatus = _ExecStatus()


class ExecToken:
    """A token from a helper program that prints an ExecCredential."""

    def __init__(
        self, argv: list[str], env: Mapping[str, str], api_version: str, clock: Clock, *, cwd: Path
    ) -> None:
        self._argv = argv
        self._env = env
        self._api_version = api_version
        self._clock = clock
        self._cwd = cwd
        self._token: str | None = None
        self._expires = 0.0

    async def token(self) -> str | None:
        """The helper's token, kept until shortly before it expires."""
        if self._token is None or self._clock.wall() >= self._expires - _EXPIRY_MARGIN:
            status = await self._run()
            if not status.token:
                what = "a client certificate" if status.client_certificate_data else "nothing"
                raise CredentialError(f"{self._argv[0]} returned {what}; only tokens are supported")
            self._token = status.token
            expires = status.expiration_timestamp
            self._expires = datetime.fromisoformat(expires).timestamp() if expires else float("inf")
        return self._token

    def invalidate(self) -> None:
        """Run the helper again before the next request."""
        self._token = None

    async def _run(self) -> _ExecStatus:
        info = {"apiVersion": self._api_version, "kind": "ExecCredential", "spec": {"interactive": False}}
        env = {**os.environ, **self._env, "KUBERNETES_EXEC_INFO": msgspec.json.encode(info).decode()}
        try:
            process = await asyncio.create_subprocess_exec(
                *self._argv,
                env=env,
                cwd=self._cwd,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
            )
        except OSError as error:
            raise CredentialError(f"cannot run {self._argv[0]}: {error}") from error
        try:
            output, _ = await asyncio.wait_for(process.communicate(), _HELPER_TIMEOUT)
        except TimeoutError as error:
            process.kill()
            raise CredentialError(f"{self._argv[0]} took longer than {_HELPER_TIMEOUT:.0f} s") from error
        if process.returncode:
            raise CredentialError(f"{self._argv[0]} failed with exit code {process.returncode}")
        try:
            return msgspec.json.decode(output, type=_ExecCredential).status
        except msgspec.DecodeError as error:
            raise CredentialError(f"{self._argv[0]} printed no ExecCredential: {error}") from error

"""The TLS side of a connection to the API server: trust, identity, and their renewal.

Certificates given as files are loaded again when they change: new connections use them, open ones go on.
Python can load a key only from a file, so key data passes through a private temporary file that is gone at
once.
"""

from __future__ import annotations

import os
import ssl
import tempfile
from contextlib import ExitStack
from pathlib import Path

from kubesched.client.kubeconfig import Endpoint, KubeconfigError, Pem


class ClientTls:
    """The context for an endpoint. `refresh` picks up files that were replaced."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        self.context.set_alpn_protocols(["http/1.1"])
        if not endpoint.verify:
            self.context.check_hostname = False
            self.context.verify_mode = ssl.CERT_NONE
        self._seen: tuple[float, ...] = ()
        self._load()

    def refresh(self) -> None:
        """Load the files again if one has changed. A half-written pair keeps the old one in use."""
        if self._stamps() != self._seen:
            try:
                self._load()
            except KubeconfigError:
                return

    def _load(self) -> None:
        stamps = self._stamps()
        endpoint = self._endpoint
        try:
            if endpoint.ca:
                self.context.load_verify_locations(cadata=endpoint.ca.read().decode())
            elif endpoint.verify:
                self.context.load_default_certs()
            if endpoint.certificate:
                with ExitStack() as stack:
                    certificate = _as_file(endpoint.certificate, stack)
                    self.context.load_cert_chain(certificate, _as_file(endpoint.key, stack))
        except (OSError, ssl.SSLError, UnicodeDecodeError) as error:
            raise KubeconfigError(f"cannot load the certificates for {endpoint.server}: {error}") from error
        self._seen = stamps

    def _stamps(self) -> tuple[float, ...]:
        pems = (self._endpoint.ca, self._endpoint.certificate, self._endpoint.key)
        return tuple(pem.path.stat().st_mtime for pem in pems if pem.path and pem.path.exists())


def _as_file(pem: Pem, stack: ExitStack) -> Path:
    if pem.path is not None:
        return pem.path
    descriptor, name = tempfile.mkstemp()
    stack.callback(Path(name).unlink)
    with os.fdopen(descriptor, "wb") as file:
        file.write(pem.data)
    return Path(name)

"""The serving certificates: those given, or a self-signed one.

Follows `MaybeDefaultWithSelfSignedCerts` in `apiserver/pkg/server/options/serving.go`, and
`dynamiccertificates` for the choice by host name.
"""

from __future__ import annotations

import ipaddress
import os
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from kubesched.config.tls import TlsOptions, best

_VALID = timedelta(days=365)


def self_signed(wall: float) -> tuple[bytes, bytes]:
    """A certificate for localhost and 127.0.0.1, and its key, as PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"localhost@{int(wall)}")])
    now = datetime.fromtimestamp(wall, UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + _VALID)
        .add_extension(
            x509.SubjectAlternativeName(
                [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
            ),
            critical=False,
        )
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )
    return (
        certificate.public_bytes(serialization.Encoding.PEM),
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
    )


def write_self_signed(certificate: Path, key: Path, wall: float) -> None:
    """Make a pair and keep it in these files, the key for its owner only. Raises OSError."""
    certificate.parent.mkdir(parents=True, exist_ok=True)
    public, private = self_signed(wall)
    key.touch(mode=0o600)
    key.write_bytes(private)
    certificate.write_bytes(public)


def server_context(pair: tuple[Path, Path] | bytes, *, client_ca: str, tls: TlsOptions) -> ssl.SSLContext:
    """The context to serve with a pair of files, or a pair that is in memory only.

    Client certificates are asked for only if there is a CA to check them. Raises OSError or ssl.SSLError for
    unusable files.
    """
    context = _context(client_ca, tls)
    if isinstance(pair, tuple):
        _load(context, *pair)
    else:
        with _pem_file(pair) as file:
            context.load_cert_chain(file)
    if tls.named:
        _serve_by_name(context, client_ca, tls)
    return context


def _load(context: ssl.SSLContext, certificate: Path, key: Path) -> None:
    """Load a pair; of a file that is missing Python's ssl does not say the name."""
    for file in (certificate, key):
        file.open("rb").close()
    context.load_cert_chain(certificate, key)


def _context(client_ca: str, tls: TlsOptions) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = tls.lowest
    context.set_alpn_protocols(["http/1.1"])
    if tls.ciphers:
        context.set_ciphers(tls.ciphers)
    if client_ca:
        context.load_verify_locations(cadata=client_ca)
        context.verify_mode = ssl.CERT_OPTIONAL
    return context


def _serve_by_name(context: ssl.SSLContext, client_ca: str, tls: TlsOptions) -> None:
    """Have handshakes that name a host continue with the certificate for it."""
    contexts, names = [], []
    for pair in tls.named:
        other = _context(client_ca, tls)
        _load(other, pair.certificate, pair.key)
        contexts.append(other)
        names.append(pair.names or _names(pair.certificate.read_bytes()))

    def choose(handshake: ssl.SSLObject, name: str | None, _context: ssl.SSLContext) -> None:
        index = best(name, names) if name else None
        if index is not None:
            handshake.context = contexts[index]

    context.sni_callback = choose


def _names(pem: bytes) -> tuple[str, ...]:
    """The host names of a certificate, or its common name."""
    certificate = x509.load_pem_x509_certificate(pem)
    try:
        extension = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        return tuple(
            str(item.value) for item in certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
        )
    return tuple(extension.value.get_values_for_type(x509.DNSName))


@contextmanager
def _pem_file(data: bytes) -> Iterator[Path]:
    """Python loads certificates from files only: a private one that is gone at once."""
    descriptor, name = tempfile.mkstemp()
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        yield Path(name)
    finally:
        Path(name).unlink()

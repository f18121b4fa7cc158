"""The serving certificate: the one given, or a self-signed one that lives as long as the process.

Follows `MaybeDefaultWithSelfSignedCerts` in `apiserver/pkg/server/options/serving.go`.
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

_VALID = timedelta(days=365)
_VERSIONS = {
    "": ssl.TLSVersion.TLSv1_2,
    "VersionTLS12": ssl.TLSVersion.TLSv1_2,
    "VersionTLS13": ssl.TLSVersion.TLSv1_3,
}


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


def server_context(
    certificate: Path | None, key: Path | None, *, client_ca: str, lowest: str, wall: float
) -> ssl.SSLContext:
    """The context to serve with. Client certificates are asked for only if there is a CA to check them.

    `lowest` is Go's name of a TLS version, empty for 1.2. Raises OSError or ssl.SSLError for unusable files.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = _VERSIONS[lowest]
    context.set_alpn_protocols(["http/1.1"])
    if certificate is not None and key is not None:
        context.load_cert_chain(certificate, key)
    else:
        with _pem_file(b"".join(self_signed(wall))) as file:
            context.load_cert_chain(file)
    if client_ca:
        context.load_verify_locations(cadata=client_ca)
        context.verify_mode = ssl.CERT_OPTIONAL
    return context


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

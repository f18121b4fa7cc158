"""Certificates that are replaced on disk are used without a restart."""

from __future__ import annotations

import asyncio
import socket
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from kubesched.client.lanes import Lane, TokenBucket
from kubesched.clock import SystemClock, VirtualClock
from kubesched.config.flags import ALL
from kubesched.config.flagset import parse
from kubesched.config.gates import FeatureGates
from kubesched.config.options import Options
from kubesched.config.types import KubeSchedulerConfiguration
from kubesched.metrics import Metrics
from kubesched.serving.certificates import self_signed
from kubesched.serving.port import SecurePort


def write(directory) -> str:
    """A new pair of files; the certificate, which is its own authority."""
    certificate, key = self_signed(SystemClock().wall())
    (directory / "crt").write_bytes(certificate)
    (directory / "key").write_bytes(key)
    return certificate.decode()


def client_pair(directory, name: str) -> tuple[Path, Path]:
    """The files of a client's certificate and key; the certificate is its own authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.fromtimestamp(SystemClock().wall(), UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .sign(key, hashes.SHA256())
    )
    files = directory / f"{name}.crt", directory / f"{name}.key"
    files[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    files[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return files


async def trusted(port: int, authority: str, client=None) -> bool:
    """Whether a client that trusts only this authority is served."""
    context = ssl.create_default_context(cadata=authority)
    if client is not None:
        context.load_cert_chain(*client)
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
        writer.write(b"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        answer = await reader.read()
    except (ssl.SSLError, ConnectionError):
        return False
    writer.close()
    return b"200 OK" in answer


async def turn(clock: VirtualClock) -> None:
    """Let a minute pass, and what then happens."""
    for _ in range(20):
        await asyncio.sleep(0)  # noqa: TID251 - lets tasks run
    clock.advance(60)
    for _ in range(200):
        await asyncio.sleep(0.001)  # noqa: TID251 - files are read in a thread


async def test_pair_and_client_ca_are_loaded_again_and_unusable_ones_are_not(tmp_path):
    old = write(tmp_path)
    alice, bob = (client_pair(tmp_path, name) for name in ("alice", "bob"))
    clients = tmp_path / "clients"
    clients.write_text(alice[0].read_text())
    flags = parse(
        [
            "--secure-port=0",
            f"--tls-cert-file={tmp_path / 'crt'}",
            f"--tls-private-key-file={tmp_path / 'key'}",
            f"--client-ca-file={clients}",
            "--bind-address=127.0.0.1",
        ],
        ALL,
    )
    flags.values["secure-port"] = port = _free()
    clock = VirtualClock()
    lane = Lane("review", TokenBucket(clock, -1, 1), in_flight=1, timeout=1)
    options = Options(KubeSchedulerConfiguration(), FeatureGates(), flags)
    served = SecurePort(options, Metrics().registry, clock, lane, "v1.36.3")
    await served.start()
    try:
        assert await trusted(port, old)
        assert await trusted(port, old, alice)
        assert not await trusted(port, old, bob)
        new = write(tmp_path)
        await turn(clock)
        assert await trusted(port, new)
        assert not await trusted(port, old)
        clients.write_text(bob[0].read_text())
        await turn(clock)
        assert await trusted(port, new, bob)
        assert not await trusted(port, new, alice)
        (tmp_path / "crt").write_text("half a certif")
        await turn(clock)
        assert await trusted(port, new)
    finally:
        await served.stop()


def _free() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]

"""Certificates that are replaced on disk are used without a restart."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from kubesched.client.errors import ApiError
from kubesched.client.lanes import Lane, TokenBucket
from kubesched.clock import SystemClock, VirtualClock
from kubesched.config.flags import ALL
from kubesched.config.flagset import parse
from kubesched.config.gates import FeatureGates
from kubesched.config.options import Options
from kubesched.config.tls import tls_options
from kubesched.config.types import KubeSchedulerConfiguration
from kubesched.metrics import Metrics
from kubesched.serving.certificates import self_signed
from kubesched.serving.port import SecurePort
from kubesched.serving.reviews import ANONYMOUS, Authenticator


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


class Cluster:
    """An API server that has the cluster's client CA, or does not have it yet."""

    def __init__(self) -> None:
        self.client_ca: str | None = None

    async def get(self, path, lane):
        if self.client_ca is None:
            raise ApiError(404, "NotFound", "not yet")
        return json.dumps({"data": {"client-ca-file": self.client_ca}}).encode()

    async def close(self) -> None:
        return None


def secure_port(clock: VirtualClock, *arguments: str) -> tuple[SecurePort, int]:
    """A port with these flags, and its number."""
    flags = parse([f"--secure-port={_free()}", "--bind-address=127.0.0.1", *arguments], ALL)
    lane = Lane("review", TokenBucket(clock, -1, 1), in_flight=1, timeout=1)
    options = Options(KubeSchedulerConfiguration(), FeatureGates(), flags, tls=tls_options(flags))
    port = SecurePort(options, Metrics().registry, clock, lane, "v1.36.3")
    return port, int(flags.number("secure-port"))


async def test_a_client_ca_that_appears_after_the_start_is_used(tmp_path, monkeypatch):
    """Nobody is asked for a certificate before; afterwards a stranger's is refused."""
    authority, cluster, clock = write(tmp_path), Cluster(), VirtualClock()
    alice, bob = (client_pair(tmp_path, name) for name in ("alice", "bob"))
    files = (f"--tls-cert-file={tmp_path / 'crt'}", f"--tls-private-key-file={tmp_path / 'key'}")
    served, port = secure_port(clock, *files)
    monkeypatch.setattr(served, "_client", lambda _flag: cluster)
    seen = []
    confirm = Authenticator.user

    async def user(self, certificate, authorization):
        seen.append((await confirm(self, certificate, authorization)).name)
        return ANONYMOUS

    monkeypatch.setattr(Authenticator, "user", user)
    await served.start()
    try:
        assert await trusted(port, authority, alice)
        cluster.client_ca = alice[0].read_text()
        await turn(clock)
        assert await trusted(port, authority, alice)
        assert not await trusted(port, authority, bob)
    finally:
        await served.stop()
    assert seen == ["system:anonymous", "alice"]


async def test_a_certificate_is_chosen_by_the_name_that_the_client_asks_for(tmp_path):
    """An exact name wins over a wildcard, and both over the certificate for everybody."""
    pairs, authorities = [], []
    for index in range(3):
        directory = tmp_path / str(index)
        directory.mkdir()
        authorities.append(write(directory))
        pairs.append(f"{directory / 'crt'},{directory / 'key'}")
    crt, _, key = pairs[0].partition(",")
    named = (f"--tls-sni-cert-key={pairs[1]}:*.example.org", f"--tls-sni-cert-key={pairs[2]}:a.example.org")
    served, port = secure_port(
        VirtualClock(), f"--tls-cert-file={crt}", f"--tls-private-key-file={key}", *named
    )
    await served.start()
    try:
        for name, index in {
            "localhost": 0,
            "b.example.org": 1,
            "a.example.org": 2,
            "a.b.example.org": 0,
        }.items():
            context = ssl.create_default_context(cadata=authorities[index])
            context.check_hostname = False
            _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname=name)
            writer.close()
    finally:
        await served.stop()


async def test_a_pair_is_made_in_cert_dir_and_found_there_by_the_next_process(tmp_path):
    directory, authority = tmp_path / "made", ""
    for _ in range(2):
        served, port = secure_port(SystemClock(), f"--cert-dir={directory}")
        await served.start()
        try:
            made = (directory / "kube-scheduler.crt").read_text()
            assert await trusted(port, authority or made)
        finally:
            await served.stop()
        authority = made
    assert (directory / "kube-scheduler.key").stat().st_mode & 0o077 == 0


async def test_only_the_cipher_suites_that_are_named_are_spoken(tmp_path):
    authority = write(tmp_path)
    files = (f"--tls-cert-file={tmp_path / 'crt'}", f"--tls-private-key-file={tmp_path / 'key'}")
    served, port = secure_port(
        VirtualClock(), *files, "--tls-cipher-suites=TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"
    )
    await served.start()
    try:
        for cipher, spoken in {
            "ECDHE-ECDSA-AES256-GCM-SHA384": True,
            "ECDHE-ECDSA-AES128-GCM-SHA256": False,
        }.items():
            context = ssl.create_default_context(cadata=authority)
            context.maximum_version = ssl.TLSVersion.TLSv1_2
            context.set_ciphers(cipher)
            assert await _connects(port, context) is spoken
    finally:
        await served.stop()


async def _connects(port: int, context: ssl.SSLContext) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
    except (ssl.SSLError, ConnectionError):
        return False
    writer.close()
    return True


async def test_pair_and_client_ca_are_loaded_again_and_unusable_ones_are_not(tmp_path):
    old = write(tmp_path)
    alice, bob = (client_pair(tmp_path, name) for name in ("alice", "bob"))
    clients = tmp_path / "clients"
    clients.write_text(alice[0].read_text())
    clock = VirtualClock()
    served, port = secure_port(
        clock,
        f"--tls-cert-file={tmp_path / 'crt'}",
        f"--tls-private-key-file={tmp_path / 'key'}",
        f"--client-ca-file={clients}",
    )
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

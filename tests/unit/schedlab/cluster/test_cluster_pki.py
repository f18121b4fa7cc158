"""Certificates are accepted by real TLS; keys and kubeconfigs are readable by their owner only."""

import base64
import os
import ssl
import stat

import pytest
import yaml
from cryptography import x509
from cryptography.x509.oid import NameOID

from schedlab.cluster import pki


@pytest.fixture(scope="module")
def authority():
    """One authority for all tests of this file."""
    return pki.CertificateAuthority("test")


def shake_hands(server, client, authority, directory, *, name="127.0.0.1"):
    """A TLS handshake in memory; returns what the server learnt about the client."""
    for role, credential in (("server", server), ("client", client)):
        (directory / f"{role}.pem").write_bytes(credential.key + credential.certificate)
    ca = authority.certificate.decode()
    listening = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cadata=ca)
    listening.verify_mode = ssl.CERT_REQUIRED
    listening.load_cert_chain(directory / "server.pem")
    calling = ssl.create_default_context(cadata=ca)
    calling.load_cert_chain(directory / "client.pem")
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    left = listening.wrap_bio(to_server, to_client, server_side=True)
    right = calling.wrap_bio(to_client, to_server, server_hostname=name)
    pending = [right, left]
    for _ in range(10):
        for end in list(pending):
            try:
                end.do_handshake()
                pending.remove(end)
            except ssl.SSLWantReadError:
                continue
    assert not pending
    return left.getpeercert()


def test_client_and_server_accept_each_other(authority, tmp_path):
    """The user is the common name, the groups are organizations, as Kubernetes reads them."""
    seen = shake_hands(
        authority.server(["127.0.0.1"], ["localhost"]),
        authority.client("alice", ("system:masters", "team")),
        authority,
        tmp_path,
    )
    subject = {(key, value) for ((key, value),) in seen["subject"]}
    assert {
        ("commonName", "alice"),
        ("organizationName", "system:masters"),
        ("organizationName", "team"),
    } <= subject


def test_a_server_is_refused_under_another_name(authority, tmp_path):
    """The certificate names the addresses it is for."""
    server = authority.server(["127.0.0.1"], ["localhost"])
    with pytest.raises(ssl.SSLCertVerificationError, match=r"10\.0\.0\.1"):
        shake_hands(server, authority.client("a"), authority, tmp_path, name="10.0.0.1")


def test_another_control_planes_server_is_refused(authority, tmp_path):
    """Two control planes have two authorities, so mixing them up cannot go unnoticed."""
    foreign = pki.CertificateAuthority("test").server(["127.0.0.1"], ["localhost"])
    with pytest.raises(ssl.SSLCertVerificationError):
        shake_hands(foreign, authority.client("a"), authority, tmp_path)


def test_a_client_certificate_cannot_serve(authority, tmp_path):
    """Each certificate is for one use."""
    with pytest.raises(ssl.SSLCertVerificationError, match="purpose"):
        shake_hands(authority.client("a"), authority.client("b"), authority, tmp_path)


def test_a_kubeconfig_is_complete_and_private(authority, tmp_path):
    """It holds everything in one file of mode 0600, whatever the umask."""
    previous = os.umask(0)
    try:
        path = pki.write_kubeconfig(
            tmp_path / "admin.yaml",
            server="https://127.0.0.1:1",
            cluster="lab",
            authority=authority.certificate,
            user="admin",
            credential=authority.client("admin"),
        )
    finally:
        os.umask(previous)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    document = yaml.safe_load(path.read_text())
    user = document["users"][0]["user"]
    certificate = x509.load_pem_x509_certificate(base64.b64decode(user["client-certificate-data"]))
    assert certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value == "admin"
    assert document["clusters"][0]["cluster"]["server"] == "https://127.0.0.1:1"
    assert document["current-context"] == document["contexts"][0]["name"]


def test_a_private_file_is_replaced_whole(tmp_path):
    """An older, readable file of the same name does not lend its mode to the new content."""
    path = tmp_path / "secret"
    path.write_text("old")
    path.chmod(0o644)
    pki.write_private(path, "new")
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("new", 0o600)
    assert list(tmp_path.iterdir()) == [path]

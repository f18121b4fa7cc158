"""A private certificate authority per control plane, and the kubeconfigs that rest on it.

Everything lives in a directory that only its owner may enter, and dies with the control plane. Keys are
P-256: they are made in a millisecond, RSA takes a noticeable part of the start.
"""

from __future__ import annotations

import base64
import ipaddress
import os
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from schedlab import timing

_LIFETIME = timedelta(days=30)
_CLOCK_SKEW = timedelta(minutes=5)


def write_private(path: Path, content: str | bytes) -> Path:
    """Write `content` so that at no moment anybody but the owner can read it; replaces a file whole."""
    data = content.encode() if isinstance(content, str) else content
    scratch = path.with_name(path.name + ".partial")
    with os.fdopen(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(data)
    scratch.replace(path)
    return path


@dataclass(frozen=True, slots=True)
class Credential:
    """A certificate with its key, both PEM."""

    certificate: bytes
    key: bytes


class CertificateAuthority:
    """Signs the server's certificate and one client certificate per user."""

    def __init__(self, name: str) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        unsigned = self._builder(self._name, self._key.public_key()).add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True
        )
        unsigned = unsigned.add_extension(_key_usage(signs_certificates=True), critical=True)
        unsigned = unsigned.add_extension(
            x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False
        )
        self.certificate = unsigned.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    def server(self, addresses: list[str], names: list[str]) -> Credential:
        """A certificate for a server that is reached at `addresses` (IPs) and `names` (DNS)."""
        alternatives: list[x509.GeneralName] = [
            x509.IPAddress(ipaddress.ip_address(one)) for one in addresses
        ]
        alternatives += [x509.DNSName(name) for name in names]
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
        return self._issue(
            subject, ExtendedKeyUsageOID.SERVER_AUTH, x509.SubjectAlternativeName(alternatives)
        )

    def client(self, user: str, groups: tuple[str, ...] = ()) -> Credential:
        """A certificate by which the API server knows `user` as a member of `groups`."""
        parts = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
        subject = x509.Name([*parts, x509.NameAttribute(NameOID.COMMON_NAME, user)])
        return self._issue(subject, ExtendedKeyUsageOID.CLIENT_AUTH, None)

    def _issue(
        self, subject: x509.Name, usage: x509.ObjectIdentifier, names: x509.SubjectAlternativeName | None
    ) -> Credential:
        key = ec.generate_private_key(ec.SECP256R1())
        unsigned = (
            self._builder(subject, key.public_key())
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_key_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False
            )
        )
        if names is not None:
            unsigned = unsigned.add_extension(names, critical=False)
        signed = unsigned.sign(self._key, hashes.SHA256())
        return Credential(signed.public_bytes(serialization.Encoding.PEM), private_pem(key))

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        now = timing.now()
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - _CLOCK_SKEW)
            .not_valid_after(now + _LIFETIME)
        )


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def private_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    """The key as unencrypted PEM, in the form that kube-apiserver reads."""
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )


def signing_key() -> bytes:
    """A new private key for service account tokens, as PEM."""
    return private_pem(ec.generate_private_key(ec.SECP256R1()))


def write_kubeconfig(
    path: Path, *, server: str, cluster: str, authority: bytes, user: str, credential: Credential
) -> Path:
    """Write a self-contained kubeconfig, mode 0600, in which `user` talks to `server`."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {"name": cluster, "cluster": {"server": server, "certificate-authority-data": _inline(authority)}}
        ],
        "users": [
            {
                "name": user,
                "user": {
                    "client-certificate-data": _inline(credential.certificate),
                    "client-key-data": _inline(credential.key),
                },
            }
        ],
        "contexts": [{"name": cluster, "context": {"cluster": cluster, "user": user}}],
        "current-context": cluster,
    }
    return write_private(path, yaml.safe_dump(document, sort_keys=False))


@dataclass(frozen=True, slots=True)
class PairFiles:
    """What TLS libraries want as files: the authority to trust, and a client's certificate and key."""

    authority: Path
    certificate: Path
    key: Path


def extract(kubeconfig: Path) -> PairFiles:
    """The certificates of a kubeconfig that `write_kubeconfig` wrote, as files beside it."""
    document = yaml.safe_load(kubeconfig.read_text())
    cluster, user = document["clusters"][0]["cluster"], document["users"][0]["user"]

    def beside(suffix: str, data: str) -> Path:
        return write_private(kubeconfig.with_suffix(suffix), base64.b64decode(data))

    return PairFiles(
        authority=beside(".ca", cluster["certificate-authority-data"]),
        certificate=beside(".crt", user["client-certificate-data"]),
        key=beside(".key", user["client-key-data"]),
    )


def redirected(kubeconfig: Path, server: str) -> Path:
    """A copy of a kubeconfig that leads to another server, beside it."""
    document = yaml.safe_load(kubeconfig.read_text())
    document["clusters"][0]["cluster"]["server"] = server
    path = kubeconfig.with_name(f"{kubeconfig.stem}-redirected.yaml")
    return write_private(path, yaml.safe_dump(document, sort_keys=False))


def credential_id(kubeconfig: Path) -> str:
    """What the audit log calls the certificate of a kubeconfig that `write_kubeconfig` wrote.

    It is the SHA-256 of the certificate (k8s.io/apiserver, pkg/authentication/request/x509/x509.go).
    """
    user = yaml.safe_load(kubeconfig.read_text())["users"][0]["user"]
    certificate = x509.load_pem_x509_certificate(base64.b64decode(user["client-certificate-data"]))
    return f"X509SHA256={certificate.fingerprint(hashes.SHA256()).hex()}"


def _inline(data: bytes) -> str:
    return base64.b64encode(data).decode()

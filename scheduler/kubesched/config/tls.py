"""What flags say about TLS, in Go's names: versions, cipher suites, and certificates by host name.

Follows `apiserver/pkg/server/options/serving.go` and `component-base/cli/flag`.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kubesched.config.flagset import Flags
from kubesched.config.problems import OptionsError

# OpenSSL's seclevel leaves nothing below 1.2, so that is what asking for less means.
_VERSIONS = {
    "": ssl.TLSVersion.TLSv1_2,
    "VersionTLS10": ssl.TLSVersion.TLSv1_2,
    "VersionTLS11": ssl.TLSVersion.TLSv1_2,
    "VersionTLS12": ssl.TLSVersion.TLSv1_2,
    "VersionTLS13": ssl.TLSVersion.TLSv1_3,
}
_LATEST_ONLY = {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"}
_CIPHERS = {
    "3DES_EDE_CBC_SHA": "DES-CBC3-SHA",
    "AES_128_CBC_SHA": "AES128-SHA",
    "AES_128_CBC_SHA256": "AES128-SHA256",
    "AES_128_GCM_SHA256": "AES128-GCM-SHA256",
    "AES_256_CBC_SHA": "AES256-SHA",
    "AES_256_GCM_SHA384": "AES256-GCM-SHA384",
    "CHACHA20_POLY1305": "CHACHA20-POLY1305",
    "CHACHA20_POLY1305_SHA256": "CHACHA20-POLY1305",
    "RC4_128_SHA": "RC4-SHA",
}
_EXCHANGES = {"ECDHE_ECDSA": "ECDHE-ECDSA-", "ECDHE_RSA": "ECDHE-RSA-", "RSA": ""}
# What Go does not have for a key exchange, although OpenSSL may.
_MISSING = {
    *(("ECDHE_ECDSA", cipher) for cipher in ("3DES_EDE_CBC_SHA",)),
    *(("RSA", cipher) for cipher in ("CHACHA20_POLY1305", "CHACHA20_POLY1305_SHA256")),
}


@dataclass(frozen=True, slots=True)
class NamedPair:
    """A certificate and key for the host names that are listed, or else for those in the certificate."""

    certificate: Path
    key: Path
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TlsOptions:
    """How to serve: the lowest version, OpenSSL's cipher list (empty for its default), further pairs."""

    lowest: ssl.TLSVersion = ssl.TLSVersion.TLSv1_2
    ciphers: str = ""
    named: tuple[NamedPair, ...] = ()


def tls_options(flags: Flags) -> TlsOptions:
    """The options of the command line. Raises OptionsError."""
    version = flags.text("tls-min-version")
    if version not in _VERSIONS:
        raise OptionsError(f'unknown tls version "{version}"')
    suites = flags.items("tls-cipher-suites")
    ciphers = ":".join(_cipher(name) for name in suites if name not in _LATEST_ONLY)
    lowest = _VERSIONS[version] if ciphers or not suites else ssl.TLSVersion.TLSv1_3
    return TlsOptions(lowest, ciphers, tuple(map(_named_pair, flags.items("tls-sni-cert-key"))))


def _cipher(name: str) -> str:
    exchange, _, cipher = name.removeprefix("TLS_").partition("_WITH_")
    if exchange not in _EXCHANGES or cipher not in _CIPHERS or (exchange, cipher) in _MISSING:
        raise OptionsError(f"Cipher suite {name} not supported or doesn't exist")
    return _EXCHANGES[exchange] + _CIPHERS[cipher]


def _named_pair(text: str) -> NamedPair:
    files, _, names = text.partition(":")
    parts = [part.strip() for part in files.split(",")]
    if len(parts) != 2 or not all(parts):
        raise OptionsError(
            f'invalid argument "{text}" for "--tls-sni-cert-key" flag: expected comma separated certificate '
            "and key file paths"
        )
    listed = tuple(name.strip() for name in names.split(",") if name.strip())
    return NamedPair(Path(parts[0]), Path(parts[1]), listed)


def best(name: str, patterns: Iterable[Sequence[str]]) -> int | None:
    """The index of the first pair for a host name: an exact name wins over a wildcard."""
    wildcard = f"*.{name.partition('.')[2]}"
    listed = list(patterns)
    for wanted in (name, wildcard):
        for index, names in enumerate(listed):
            if wanted in names:
                return index
    return None

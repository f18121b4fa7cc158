"""Which forward proxy a request goes through: HTTPS_PROXY, HTTP_PROXY and NO_PROXY as Go reads them.

Upper case names win over lower case ones; localhost and loopback addresses are never proxied; NO_PROXY lists
domains with their subdomains, `.domain` for subdomains alone, addresses, networks, each with an optional
port, or `*`. Follows `golang.org/x/net/http/httpproxy`, which client-go and HTTP extenders use.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

_PORTS = {"http": 80, "https": 443}
_SPOKEN = ("http", "https")


class ProxyError(ValueError):
    """The proxy that is configured cannot be used."""


def checked(proxy: str, named: str) -> str:
    """A proxy's address; without a scheme it is http. Raises ProxyError, which says who `named` it."""
    parts = urlsplit(proxy)
    if "://" not in proxy:
        parts = urlsplit(f"http://{proxy}")
    if parts.scheme not in _SPOKEN or not parts.hostname:
        raise ProxyError(f'{named}: unsupported proxy "{proxy}": it must be http:// or https://')
    return parts.geturl()


def proxy_for(url: str, environ: Mapping[str, str]) -> str | None:
    """The proxy that the environment names for a URL; None to connect directly. Raises ProxyError."""
    target = urlsplit(url)
    if target.scheme not in _PORTS:
        return None
    name = f"{target.scheme}_proxy"
    proxy = environ.get(name.upper()) or environ.get(name)
    if not proxy or not target.hostname:
        return None
    port = target.port or _PORTS[target.scheme]
    if _is_excluded(target.hostname.lower(), port, environ.get("NO_PROXY") or environ.get("no_proxy") or ""):
        return None
    return checked(proxy, name.upper())


def _is_excluded(host: str, port: int, rules: str) -> bool:
    address = _address(host)
    if host == "localhost" or (address is not None and address.is_loopback):
        return True
    return any(_matches(rule.strip().lower(), host, address, port) for rule in rules.split(","))


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _matches(
    rule: str, host: str, address: ipaddress.IPv4Address | ipaddress.IPv6Address | None, port: int
) -> bool:
    if rule in {"", "*"}:
        return bool(rule)
    if "/" in rule:
        return address is not None and _in_network(address, rule)
    if (exact := _address(rule)) is not None:
        return exact == address
    try:
        parts = urlsplit(f"//{rule}")
        named, its_port = (parts.hostname or "").removeprefix("*"), parts.port
    except ValueError:
        return False
    subdomains = named if named.startswith(".") else f".{named}"
    return its_port in {None, port} and (host == named or host.endswith(subdomains))


def _in_network(address: ipaddress.IPv4Address | ipaddress.IPv6Address, rule: str) -> bool:
    try:
        return address in ipaddress.ip_network(rule, strict=False)
    except ValueError:
        return False

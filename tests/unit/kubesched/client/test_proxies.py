"""Which proxy is used, as Go reads the environment."""

from __future__ import annotations

import pytest
from tests.unit.kubesched.client.fake_server import SkippingClock, answer, running

from kubesched.client.kubeconfig import Endpoint, KubeconfigError, resolve
from kubesched.client.lanes import Lanes
from kubesched.client.proxies import ProxyError, checked, proxy_for
from kubesched.client.rest import RestClient
from kubesched.client.tokens import StaticToken

PROXY = "http://proxy:3128"


@pytest.mark.parametrize(
    ("url", "environ", "proxy"),
    [
        ("https://api:6443", {"HTTPS_PROXY": PROXY}, PROXY),
        ("https://api:6443", {"https_proxy": PROXY}, PROXY),
        ("https://api:6443", {"HTTPS_PROXY": PROXY, "https_proxy": "http://other"}, PROXY),
        ("https://api:6443", {"HTTP_PROXY": PROXY}, None),
        ("http://api", {"HTTP_PROXY": "proxy:3128"}, PROXY),
        ("https://api", {}, None),
        ("https://localhost:6443", {"HTTPS_PROXY": PROXY}, None),
        ("https://127.0.0.1:6443", {"HTTPS_PROXY": PROXY}, None),
        ("https://127.9.9.9", {"HTTPS_PROXY": PROXY}, None),
        ("https://[::1]:6443", {"HTTPS_PROXY": PROXY}, None),
        ("ftp://api", {"HTTPS_PROXY": PROXY, "HTTP_PROXY": PROXY}, None),
    ],
)
def test_the_variable_of_the_scheme_names_it_and_this_machine_has_none(url, environ, proxy):
    assert proxy_for(url, environ) == proxy


@pytest.mark.parametrize(
    ("rules", "host", "excluded"),
    [
        ("*", "api", True),
        ("example.org", "example.org", True),
        ("example.org", "a.example.org", True),
        ("example.org", "anexample.org", False),
        (".example.org", "a.example.org", True),
        (".example.org", "example.org", False),
        ("*.example.org", "a.example.org", True),
        ("EXAMPLE.org", "example.ORG", True),
        ("other, example.org", "example.org", True),
        ("example.org:6443", "example.org", True),
        ("example.org:443", "example.org", False),
        ("10.0.0.1", "10.0.0.1", True),
        ("10.0.0.0/8", "10.1.2.3", True),
        ("10.0.0.0/8", "11.1.2.3", False),
        ("10.0.0.0/8", "example.org", False),
        ("10.0.0.1:443", "10.0.0.1", False),
        ("fd00::1", "[fd00::1]", True),
        ("fd00::/8", "[fd00::1]", True),
        ("1.2.3.4/99", "1.2.3.4", False),
        ("[", "example.org", False),
        (",", "example.org", False),
    ],
)
def test_no_proxy_lists_who_is_asked_directly(rules, host, excluded):
    found = proxy_for(f"https://{host}:6443", {"HTTPS_PROXY": PROXY, "NO_PROXY": rules})
    assert (found is None) is excluded


@pytest.mark.parametrize("proxy", ["socks5://p:1080", "http://", "ftp://p"])
def test_a_proxy_that_cannot_be_spoken_to_is_refused(proxy):
    with pytest.raises(ProxyError, match="HTTPS_PROXY: unsupported proxy"):
        proxy_for("https://api", {"HTTPS_PROXY": proxy})
    with pytest.raises(KubeconfigError, match="unsupported proxy"):
        resolve("", "https://api", SkippingClock(), {"HTTPS_PROXY": proxy})


def test_an_address_without_a_scheme_is_http():
    assert checked("proxy:1", "here") == "http://proxy:1"


async def test_requests_go_through_the_proxy():
    """The request line names the API server, and the connection goes to the proxy."""
    async with running() as proxy:
        proxy.lists.append(answer(200, b"{}"))
        clock = SkippingClock()
        endpoint = Endpoint("http://api.example.org:8080", StaticToken(None), proxy=proxy.url)
        rest = RestClient(endpoint, clock, user_agent="test")
        try:
            lane = Lanes(clock, qps=-1, burst=1, lease_timeout=5).read
            assert await rest.get("/api/v1/nodes", lane) == b"{}"
        finally:
            await rest.close()
        (request,) = proxy.requests
        assert request.headers["host"] == "api.example.org:8080"

"""The secure port as a client sees it, over TLS on loopback."""

from __future__ import annotations

import json
import ssl
from contextlib import asynccontextmanager

import aiohttp
import pytest
from cryptography import x509

from kubesched.clock import SystemClock
from kubesched.config.tls import TlsOptions
from kubesched.metrics import Metrics
from kubesched.serving.certificates import self_signed, server_context
from kubesched.serving.health import Health
from kubesched.serving.review_metrics import ReviewMetrics
from kubesched.serving.reviews import Authenticator, Authorizer, ReviewError, User
from kubesched.serving.server import Server

OPEN = ["/healthz", "/livez", "/readyz"]


class Authorizing(Authorizer):
    """Lets `alice` in and cannot answer for `mallory`."""

    async def allowed(self, user: User, verb: str, path: str) -> bool:
        if user.name == "mallory":
            raise ReviewError("no answer")
        return user.name == "alice" or self.is_open(path)


class Authenticating(Authenticator):
    """Believes any token but `bad`."""

    async def user(self, certificate, authorization):
        token = authorization.removeprefix("Bearer ")
        return None if token == "bad" else User(token or "system:anonymous")


@pytest.fixture(scope="module")
def certificate() -> tuple[bytes, bytes]:
    return self_signed(SystemClock().wall())


@asynccontextmanager
async def serving(tmp_path, certificate, health: Health | None = None):
    clock = SystemClock()
    (tmp_path / "crt").write_bytes(certificate[0])
    (tmp_path / "key").write_bytes(certificate[1])
    context = server_context((tmp_path / "crt", tmp_path / "key"), client_ca="", tls=TlsOptions())
    metrics = Metrics()
    reviews = ReviewMetrics(metrics.registry)
    metrics.attempt("scheduled", "default-scheduler", 0.1)
    server = Server(
        Authenticating(None, None, clock, seconds=1, metrics=reviews),
        Authorizing(
            None, None, clock, open_paths=OPEN, allowed_seconds=1, refused_seconds=1, metrics=reviews
        ),
        state=health or Health(synced=True),
        registry=metrics.registry,
        configuration={"kind": "KubeSchedulerConfiguration"},
        pages={"/statusz": lambda: "a page"},
    )
    await server.start("127.0.0.1", 0, context, reuse_port=False)
    port = server._socket.getsockname()[1]
    trust = ssl.create_default_context(cadata=certificate[0].decode())
    async with aiohttp.ClientSession(f"https://localhost:{port}") as session:

        async def get(path: str, token: str = ""):
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            async with session.get(path, headers=headers, ssl=trust) as response:
                return response.status, await response.text(), response.headers

        try:
            yield get
        finally:
            await server.stop()


async def test_health_is_open_to_all(tmp_path, certificate):
    async with serving(tmp_path, certificate) as get:
        for path in ("/healthz", "/livez", "/readyz"):
            status, text, headers = await get(path)
            assert (status, text) == (200, "ok")
            assert headers["Cache-Control"] == "no-cache, private"


async def test_a_scheduler_that_is_not_ready_says_so(tmp_path, certificate):
    async with serving(tmp_path, certificate, Health()) as get:
        assert (await get("/readyz"))[0] == 500
        assert (await get("/readyz?exclude=sched-handler-sync"))[0] == 200
        assert (await get("/livez?verbose"))[1] == "[+]ping ok\nlivez check passed\n"


@pytest.mark.parametrize("path", ["/metrics", "/configz", "/statusz", "/readyz/shutdown", "/nope"])
async def test_everything_else_is_for_those_who_may(tmp_path, certificate, path):
    async with serving(tmp_path, certificate) as get:
        status, text, _ = await get(path)
        assert status == 403
        assert json.loads(text)["message"] == f'forbidden: User "system:anonymous" cannot get path "{path}"'
        assert (await get(path, "bad"))[0] == 401
        assert (await get(path, "mallory"))[0] == 500, "no answer is not a yes"
        assert (await get(path, "alice"))[0] == (404 if path == "/nope" else 200)


async def test_metrics_are_in_prometheus_format(tmp_path, certificate):
    async with serving(tmp_path, certificate) as get:
        _, text, headers = await get("/metrics", "alice")
        assert 'scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 1.0' in text
        assert "_created" not in text
        assert headers["Content-Type"].startswith("text/plain")


async def test_the_configuration_is_shown(tmp_path, certificate):
    async with serving(tmp_path, certificate) as get:
        _, text, _ = await get("/configz", "alice")
        assert json.loads(text) == {"componentconfig": {"kind": "KubeSchedulerConfiguration"}}


async def test_a_single_check_can_be_asked_for(tmp_path, certificate):
    async with serving(tmp_path, certificate, Health()) as get:
        assert (await get("/readyz/shutdown", "alice"))[:2] == (200, "ok")
        assert (await get("/readyz/sched-handler-sync", "alice"))[0] == 500
        assert (await get("/readyz/nope", "alice"))[0] == 404


def test_a_certificate_of_our_own_is_for_localhost(certificate):
    parsed = x509.load_pem_x509_certificate(certificate[0])
    names = parsed.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["localhost"]
    assert [str(ip) for ip in names.get_values_for_type(x509.IPAddress)] == ["127.0.0.1"]


def test_client_certificates_are_asked_for_only_with_a_ca(certificate):
    pair = b"".join(certificate)
    plain = server_context(pair, client_ca="", tls=TlsOptions())
    assert plain.minimum_version is ssl.TLSVersion.TLSv1_2
    assert plain.verify_mode is ssl.CERT_NONE
    strict = server_context(pair, client_ca=certificate[0].decode(), tls=TlsOptions(ssl.TLSVersion.TLSv1_3))
    assert strict.minimum_version is ssl.TLSVersion.TLSv1_3
    assert strict.verify_mode is ssl.CERT_OPTIONAL


async def test_wrong_credentials_are_refused_even_where_nobody_needs_any(tmp_path, certificate):
    async with serving(tmp_path, certificate) as get:
        assert (await get("/healthz"))[0] == 200
        assert (await get("/healthz", "bad"))[0] == 401
        assert (await get("/nope", "bad"))[0] == 401

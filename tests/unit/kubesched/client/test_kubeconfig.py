"""Kubeconfigs: what is read, and what is refused rather than ignored."""

from __future__ import annotations

import base64

import pytest
import yaml

from kubesched.client.kubeconfig import KubeconfigError, in_cluster, load, resolve
from kubesched.client.tokens import ExecToken, FileToken, StaticToken
from kubesched.clock import VirtualClock


def config(cluster: dict | None = None, user: dict | None = None, **other) -> dict:
    return {
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:6443", **(cluster or {})}}],
        "users": [{"name": "u", "user": user or {}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
        **other,
    }


@pytest.fixture
def write(tmp_path):
    def _write(content: object) -> str:
        path = tmp_path / "kubeconfig"
        path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
        return str(path)

    return _write


CLOCK = VirtualClock()


async def test_certificates_are_taken_from_data_or_from_files_beside_the_kubeconfig(write, tmp_path):
    data = base64.b64encode(b"PEM").decode()
    endpoint = load(
        write(
            config(
                {"certificate-authority-data": data}, {"client-certificate": "a.crt", "client-key": "a.key"}
            )
        ),
        CLOCK,
    )
    assert endpoint.ca.read() == b"PEM"
    assert endpoint.certificate.path == tmp_path / "a.crt"
    assert endpoint.key.path == tmp_path / "a.key"
    assert endpoint.verify


async def test_a_token_is_sent_as_it_is(write):
    endpoint = load(write(config(user={"token": "t"})), CLOCK)
    assert isinstance(endpoint.tokens, StaticToken)
    assert await endpoint.tokens.token() == "t"


def test_a_token_file_wins_over_a_token(write):
    assert isinstance(load(write(config(user={"token": "t", "tokenFile": "f"})), CLOCK).tokens, FileToken)


def test_a_helper_is_used_because_the_kubeconfig_was_named(write):
    helper = {"command": "./login", "apiVersion": "client.authentication.k8s.io/v1", "args": ["a"]}
    assert isinstance(load(write(config(user={"exec": helper})), CLOCK).tokens, ExecToken)


def test_basic_authentication_and_impersonation_become_headers(write):
    endpoint = load(write(config(user={"username": "u", "password": "p", "as": "other"})), CLOCK)
    assert endpoint.headers == {"Authorization": "Basic dTpw", "Impersonate-User": "other"}


def test_master_overrides_the_server(write):
    assert resolve(write(config()), "http://127.0.0.1:1/", CLOCK, {}).server == "http://127.0.0.1:1"
    assert resolve("", "127.0.0.1:8080", CLOCK, {}).server == "http://127.0.0.1:8080"


def test_inside_a_cluster_the_service_account_is_used(tmp_path):
    environ = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}
    endpoint = in_cluster(CLOCK, environ, tmp_path)
    assert endpoint.server == "https://[fd00::1]:443"
    assert endpoint.ca.path == tmp_path / "ca.crt"
    assert isinstance(endpoint.tokens, FileToken)


def test_outside_a_cluster_a_kubeconfig_must_be_named():
    with pytest.raises(KubeconfigError, match="no --kubeconfig or --master"):
        resolve("", "", CLOCK, {})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (config(**{"current-context": ""}), "no current-context"),
        (config(**{"current-context": "y"}), 'context "y" does not exist'),
        (config(contexts=[{"name": "x", "context": {"cluster": "z"}}]), 'cluster "z" does not exist'),
        (config({"proxy-url": "socks5://p"}), "must be http:// or https://"),
        (
            config({"server": "https://example.org", "insecure-skip-tls-verify": True}),
            "refused except on loopback",
        ),
        (config({"server": "ftp://x"}), "invalid server address"),
        (config({"server": "http://x:1:2"}), "must be a URL or a host:port pair"),
        (config({"server": ["x"]}), 'cluster "c": Expected `str`'),
        (config(user={"client-certificate": "a"}), "go together"),
        (config(user={"auth-provider": {}}), "auth-provider was removed"),
        (
            config(user={"exec": {"command": "c", "apiVersion": "v1", "interactiveMode": "Always"}}),
            "wants a terminal",
        ),
        (config({"certificate-authority-data": "%"}), "not base64"),
        ("a: [", "not a kubeconfig"),
        ("- a", "not a kubeconfig"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_honoured_is_refused(write, content, message):
    with pytest.raises(KubeconfigError, match=r"kubeconfig|invalid server|host:port") as caught:
        load(write(content), CLOCK)
    assert message in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(KubeconfigError, match=r"stat .*nope: no such file"):
        load(tmp_path / "nope", CLOCK)


def test_tls_is_not_verified_only_on_loopback(write):
    assert not load(write(config({"insecure-skip-tls-verify": True})), CLOCK).verify

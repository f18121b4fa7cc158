"""The secure port as its flags ask for it."""

from __future__ import annotations

import pytest

from kubesched.client.lanes import Lanes
from kubesched.clock import SystemClock
from kubesched.config.flags import ALL
from kubesched.config.flagset import parse
from kubesched.config.load import dump, loads
from kubesched.config.options import resolve
from kubesched.metrics import Metrics
from kubesched.serving.certificates import self_signed
from kubesched.serving.port import SecurePort, ServingError, redacted

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def port(*flags: str) -> SecurePort:
    clock = SystemClock()
    options = resolve(parse(["--bind-address=127.0.0.1", *flags], ALL))
    lane = Lanes(clock, qps=-1, burst=1, lease_timeout=5).review
    return SecurePort(options, Metrics().registry, clock, lane, "v1")


def test_private_keys_are_not_shown():
    config = loads(
        HEAD + "extenders: [{urlPrefix: u, tlsConfig: {keyData: YQ==, certData: YQ==}}, {urlPrefix: v}]\n"
    )
    shown = redacted(dump(config))
    assert shown["extenders"][0]["tlsConfig"] == {"keyData": "REDACTED", "certData": "YQ=="}


async def test_port_0_serves_nothing():
    it = port("--secure-port=0")
    await it.start()
    assert it._server is None
    await it.stop()


async def test_a_taken_port_is_an_error(unused_tcp_port):
    first, second = port(f"--secure-port={unused_tcp_port}"), port(f"--secure-port={unused_tcp_port}")
    await first.start()
    with pytest.raises(OSError, match="in use"):
        await second.start()
    await first.stop()
    await second.stop()


@pytest.mark.parametrize("flag", ["authentication-kubeconfig", "authorization-kubeconfig"])
async def test_a_kubeconfig_that_is_named_must_be_there(flag, tmp_path):
    with pytest.raises(ServingError, match=f"--{flag}: stat"):
        await port(f"--{flag}={tmp_path / 'nope'}").start()


async def test_a_pair_that_cannot_be_loaded_is_an_error(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text("junk")
    with pytest.raises(ServingError, match="unable to load server certificate"):
        await port(f"--tls-cert-file={tmp_path / 'a'}", f"--tls-private-key-file={tmp_path / 'b'}").start()


async def test_the_pair_in_cert_dir_is_used(tmp_path, unused_tcp_port, monkeypatch):
    certificate, key = self_signed(SystemClock().wall())
    (tmp_path / "kube-scheduler.crt").write_bytes(certificate)
    (tmp_path / "kube-scheduler.key").write_bytes(key)
    monkeypatch.setattr("kubesched.serving.certificates.self_signed", lambda _: pytest.fail("not needed"))
    it = port(f"--cert-dir={tmp_path}", f"--secure-port={unused_tcp_port}")
    await it.start()
    await it.stop()


async def test_a_client_ca_file_is_what_certificates_are_checked_with(tmp_path):
    certificate, _ = self_signed(SystemClock().wall())
    (tmp_path / "ca.crt").write_bytes(certificate)
    it = port(f"--client-ca-file={tmp_path / 'ca.crt'}")
    assert await it._client_ca(None) == certificate.decode()
    assert await port()._client_ca(None) == "", "without a cluster there is no CA to look up"

"""Tokens that are renewed while the process runs."""

from __future__ import annotations

import sys

import pytest

from kubesched.client.tokens import CredentialError, ExecToken, FileToken
from kubesched.clock import VirtualClock


async def test_a_token_file_is_read_again_after_a_minute(tmp_path):
    path, clock = tmp_path / "token", VirtualClock()
    path.write_text("first\n")
    source = FileToken(path, clock)
    assert await source.token() == "first"
    path.write_text("second")
    assert await source.token() == "first"
    clock.advance(60)
    assert await source.token() == "second"


async def test_a_refused_token_is_read_again_at_once(tmp_path):
    path = tmp_path / "token"
    path.write_text("first")
    source = FileToken(path, VirtualClock())
    await source.token()
    path.write_text("second")
    source.invalidate()
    assert await source.token() == "second"


async def test_a_token_file_that_vanishes_leaves_the_last_token_in_use(tmp_path):
    path, clock = tmp_path / "token", VirtualClock()
    path.write_text("first")
    source = FileToken(path, clock)
    await source.token()
    path.unlink()
    clock.advance(100)
    assert await source.token() == "first"


async def test_a_token_file_that_was_never_there_is_an_error(tmp_path):
    with pytest.raises(CredentialError, match="cannot read token file"):
        await FileToken(tmp_path / "nope", VirtualClock()).token()
    (tmp_path / "empty").touch()
    with pytest.raises(CredentialError, match="is empty"):
        await FileToken(tmp_path / "empty", VirtualClock()).token()


def helper(tmp_path, script: str, clock: VirtualClock) -> ExecToken:
    path = tmp_path / "helper.py"
    path.write_text(script)
    argv = [sys.executable, str(path)]
    return ExecToken(argv, {"GREETING": "hi"}, "client.authentication.k8s.io/v1", clock, cwd=tmp_path)


COUNTING = """
import json, os, pathlib
count = pathlib.Path("count")
count.write_text(str(int(count.read_text() if count.exists() else 0) + 1))
assert json.loads(os.environ["KUBERNETES_EXEC_INFO"])["kind"] == "ExecCredential"
token = os.environ["GREETING"] + count.read_text()
print(json.dumps({"status": {"token": token, "expirationTimestamp": "2020-09-13T12:27:40Z"}}))
"""


async def test_a_helpers_token_is_kept_until_shortly_before_it_expires(tmp_path):
    clock = VirtualClock(epoch=1_600_000_000.0)  # 12:26:40, a minute before
    source = helper(tmp_path, COUNTING, clock)
    assert [await source.token(), await source.token()] == ["hi1", "hi1"]
    clock.advance(51)
    assert await source.token() == "hi2"
    source.invalidate()
    assert await source.token() == "hi3"


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("raise SystemExit(3)", "failed with exit code 3"),
        ("print('hello')", "printed no ExecCredential"),
        ("print('{}')", "returned nothing; only tokens"),
        ('print(\'{"status": {"clientCertificateData": "x"}}\')', "returned a client certificate"),
    ],
)
async def test_a_helper_that_fails_is_an_error_that_names_it(tmp_path, script, message):
    with pytest.raises(CredentialError, match=message):
        await helper(tmp_path, script, VirtualClock()).token()


async def test_a_helper_that_does_not_exist_is_an_error(tmp_path):
    source = ExecToken(["/nope"], {}, "v1", VirtualClock(), cwd=tmp_path)
    with pytest.raises(CredentialError, match="cannot run /nope"):
        await source.token()

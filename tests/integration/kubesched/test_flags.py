"""The flags of both schedulers side by side: what they are, and which values are refused in which words."""

from __future__ import annotations

import asyncio
import re
import subprocess
from pathlib import Path

import pytest
from tests.integration.kubesched.side_by_side import documented, table

from kubesched.app import StartupError, setup
from kubesched.client.lanes import Lanes
from kubesched.config.flags import ALL, usage
from kubesched.config.flagset import FlagError, parse
from kubesched.metrics import Metrics
from kubesched.serving.port import SecurePort, ServingError
from schedlab.cluster.tools import find

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]

_FLAG = re.compile(r"^ {2,6}(?:-(\w), +)?--([a-z0-9-]+)(?: (\S+))? {2,}(.*)$", re.MULTILINE)
_DEFAULT = re.compile(r"\(default (.*?)\)$")
# What the help of kube-scheduler says or does otherwise than kubesched's; `inert` flags say it themselves.
DIFFERENT = {
    "emulated-version": "1.36 alone is accepted",
    "leader-elect-lease-duration": "refused at start if too short; there the election fails",
    "leader-elect-renew-deadline": "refused at start if too long; there the election fails",
    "leader-elect-retry-period": "refused at start if too long; there the election fails",
    "tls-min-version": "1.0 and 1.1 are taken as 1.2",
}
KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://127.0.0.1:9"}}]
users: [{name: u, user: {}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
"""
REFUSED = (
    "--foo", "--master", "-v", "x", "--secure-port=70000", "--secure-port=abc", "--secure-port=-1",
    "--bind-address=nope", "--leader-elect=maybe", "--leader-elect-lease-duration=5",
    "--log-flush-frequency=x", "--log-flush-frequency=0s", "--kube-api-qps=x", "--kube-api-burst=99999999999",
    "--kube-api-burst=0", "--version=foo", "--version=v1.35.0",
    "--feature-gates=Foo=true", "--feature-gates=SchedulerAsyncPreemption",
    "--feature-gates=SchedulerAsyncPreemption=x", "--feature-gates=foo:Bar=true",
    "--feature-gates=AnyVolumeDataSource=false",
    "--emulated-version=1.20", "--emulated-version=1.37", "--emulated-version=abc",
    "--emulated-version=foo=1.36", "--emulated-version=1.36.1", "--min-compatibility-version=1.37",
    "--min-compatibility-version=1.20",
    "--tls-min-version=VersionTLS9", "--tls-cipher-suites=A", "--tls-curve-preferences=x",
    "--tls-sni-cert-key=a", "--tls-sni-cert-key=/nope,/nope", "--tls-cert-file=/nope",
    "--tls-cert-file=/nope --tls-private-key-file=/nope", "--cert-dir=/proc/nope",
    "--disabled-metrics=a-b", "--allow-metric-labels=a", "--allow-metric-labels=a=b",
    "--allow-metric-labels-manifest=/nope", "--show-hidden-metrics-for-version=1.30",
    "--logging-format=xml", "--logging-format=json --vmodule=x=1", "--log-json-split-stream",
    "--log-text-split-stream", "--log-text-info-buffer-size=1Ki", "--log-text-info-buffer-size=x",
    "--vmodule=x", "--vmodule=x=y", "-v=-1", "--v=99999999999",
    "--client-ca-file=/nope", "--authentication-kubeconfig=/nope", "--authorization-kubeconfig=/nope",
    "--authorization-always-allow-paths=a*b", "--authorization-webhook-cache-authorized-ttl=x",
    "--config=/nope", "--write-config-to=/nope/x", "--kubeconfig=/nope", "--master=http://127.0.0.1:1:2",
)  # fmt: skip


@pytest.fixture(scope="module")
def reference() -> Path:
    """The program of kube-scheduler."""
    return find(["kube-scheduler"]).path("kube-scheduler")


def shown(help_text: str) -> dict[str, tuple[str, str, str]]:
    """Shorthand, type and default of every flag in a help text."""
    found = {}
    for short, name, kind, about in _FLAG.findall(help_text):
        default = _DEFAULT.search(about)
        found[name] = short, kind, default[1] if default else ""
    found.pop("help", None)
    return found


def test_flags_have_the_references_names_types_and_defaults(reference):
    """Every flag, or else the table says why; what a flag does not do here it says in its help."""
    text = subprocess.run([reference, "--help"], capture_output=True, text=True, check=True).stdout
    theirs, ours = shown(text), shown(usage())
    assert theirs == ours
    deprecated = set(re.findall(r"--([a-z0-9-]+)[^\n]*DEPRECATED", text))
    assert {flag.name for flag in ALL if flag.help.startswith("DEPRECATED")} == deprecated
    rows = []
    for flag in ALL:
        _, kind, default = theirs[flag.name]
        note = "deprecated" if flag.name in deprecated else ""
        inert = f"accepted, no effect: {flag.inert}" if flag.inert else "equal"
        effect = DIFFERENT.get(flag.name, inert)
        rows.append((f"`--{flag.name}`", kind, default, note, effect))
    documented(
        "flags.md",
        "Flags of kube-scheduler and kubesched",
        {
            "Equal means: same name, type, default and effect": table(
                ["flag", "type", "default", "", "kubesched"], rows
            )
        },
    )


def test_wrong_values_are_refused_in_like_words(reference, tmp_path):
    """Both exit with 1."""
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(KUBECONFIG)
    rows = []
    for case in REFUSED:
        argv = [
            f"--kubeconfig={kubeconfig}",
            "--bind-address=127.0.0.1",
            "--leader-elect=false",
            *case.split(),
        ]
        run = subprocess.run([reference, *argv], capture_output=True, text=True, timeout=30, check=False)
        assert run.returncode == 1, (case, run.stderr[-500:])
        theirs, ours = _error(run.stdout + run.stderr), refusal(argv)
        assert ours, f"{case} is accepted"
        rows.append((f"`{case}`", theirs, "equal" if ours == theirs else ours))
    text = table(["given", "kube-scheduler", "kubesched"], rows)
    documented("wrong-flags.md", "Wrong flags", {"Both exit with 1": text})


def refusal(argv: list[str]) -> str:
    """What kubesched says of a command line that it does not run with."""
    try:
        app = setup(parse(argv, ALL))
        if app is not None:
            asyncio.run(_serve(app))
    except (FlagError, StartupError, ServingError, OSError) as error:
        return str(error)
    return ""


async def _serve(app) -> None:
    lane = Lanes(app.clock, qps=-1, burst=1, lease_timeout=1).review
    port = SecurePort(app.options, Metrics().registry, app.clock, lane, "v1")
    try:
        await port.start()
    finally:
        await port.stop()


def _error(output: str) -> str:
    """The text of the error that ended kube-scheduler."""
    if found := re.findall(r'"command failed" err="((?:[^"\\]|\\.)*)"', output):
        return found[-1].replace('\\"', '"')
    if found := re.findall(r"^Error: (.*)$", output, re.MULTILINE):
        return found[-1]
    return output.strip().splitlines()[-1]

"""/metrics/resources, /statusz and /flagz."""

from __future__ import annotations

from kubesched.clock import VirtualClock
from kubesched.config.flags import ALL
from kubesched.config.flagset import parse
from kubesched.pod_resources import page
from kubesched.serving.zpages import flagz, statusz
from kubesched.testing.builders import pod


def test_each_pod_shows_what_it_requests_in_units():
    """A pod that has ended shows nothing; neither does a limit that nobody set."""
    lines = page(
        lambda: [
            pod("p").on("n").cpu("1500m").memory("1Ki").gpu(2).with_priority(7),
            pod("over").cpu(1).on("n").phase("Succeeded"),
        ]
    )().splitlines()
    who = 'namespace="default",node="n",pod="p",priority="7"'
    start = "kube_pod_resource_request"

    def shown(resource: str, unit: str, value: str) -> bool:
        return any(
            line.startswith(start) and f'resource="{resource}"' in line and f'unit="{unit}"' in line
            and line.endswith(f" {value}") and 'pod="p"' in line and 'priority="7"' in line
            for line in lines
        )  # fmt: skip

    assert shown("cpu", "cores", "1.5"), who
    assert shown("memory", "bytes", "1024.0")
    assert shown("nvidia.com/gpu", "", "2.0")
    assert not any("over" in line or "limit" in line for line in lines)


def test_statusz_tells_since_when_and_what():
    clock = VirtualClock(epoch=0.0)
    shown = statusz(clock, "v1.36.3", ["/metrics", "/healthz"])
    clock.advance(3 * 3600 + 62)
    text = shown()
    assert "Started= Thu Jan 01 00:00:00 UTC 1970\nUp= 3 hr 01 min 02 sec\n" in text
    assert "Binary version= 1.36.3\nEmulation version= 1.36\nPaths= /healthz /metrics\n" in text


def test_flagz_lists_every_flag_with_its_value():
    flags = parse(["--leader-elect=false", "--feature-gates=A=true", "--feature-gates=B=false"], ALL)
    lines = flagz(flags).splitlines()
    assert lines[1] == "kube-scheduler flagz"
    for line in (
        "leader-elect: false",
        "feature-gates: A=true,B=false",
        "pod-max-in-unschedulable-pods-duration: 5m0s",
        "authorization-always-allow-paths: [/healthz,/readyz,/livez]",
    ):
        assert line in lines

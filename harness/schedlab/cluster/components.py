"""The command lines of a local control plane's components.

Each flag is here for a reason: what a suite needs to see, what keeps two control planes apart, or what makes
the start fast. Flags of the spec are added last and win.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from schedlab.cluster.layout import Layout
from schedlab.cluster.ports import HOST

SERVICE_RANGE = "10.96.0.0/16"
POD_RANGE = "10.64.0.0/10"
LEASE_SECONDS = 40  # the kubelet's default; kwok renews every quarter of it
GRACE_SECONDS = 50  # kube-controller-manager's default for --node-monitor-grace-period

# Controllers that only real kubelets, clouds or certificate requests give work to.
_IDLE_CONTROLLERS = (
    "bootstrap-signer-controller",
    "certificatesigningrequest-approving-controller",
    "certificatesigningrequest-cleaner-controller",
    "certificatesigningrequest-signing-controller",
    "cloud-node-lifecycle-controller",
    "horizontal-pod-autoscaler-controller",
    "node-ipam-controller",
    "node-route-controller",
    "root-ca-certificate-publisher-controller",
    "service-lb-controller",
    "token-cleaner-controller",
    "ttl-controller",  # tells kubelets how long to cache secrets, by writes to every node
)


_JOINED = {"controllers", "disable-admission-plugins", "enable-admission-plugins", "feature-gates"}

# The last to stop, in this order. What writes stops before what it writes to.
_STOP_LAST = ("kube-controller-manager", "kube-apiserver", "etcd")


class _Named(Protocol):
    @property
    def name(self) -> str: ...


_N = TypeVar("_N", bound=_Named)


def stop_order(started: Sequence[_N]) -> list[_N]:
    """The order in which processes stop: the last started first, but the API server and then etcd at the end.

    kube-apiserver would wait long for clients that still watch, and without etcd it cannot finish its work.
    """

    def rank(index: int) -> tuple[int, int]:
        name = started[index].name
        return (_STOP_LAST.index(name) + 1 if name in _STOP_LAST else 0, -index)

    return [started[index] for index in sorted(range(len(started)), key=rank)]


def flags(own: Mapping[str, str], given: Mapping[str, str]) -> list[str]:
    """`--name=value` for each flag; a given flag replaces schedlab's own of the same name.

    Those that switch things one by one (`feature-gates`, `controllers`, …) are joined instead, the given ones
    last.
    """
    merged = {**own, **given}
    for name in _JOINED & own.keys() & given.keys():
        merged[name] = f"{own[name]},{given[name]}"
    return [f"--{name}={value}" for name, value in merged.items()]


def etcd(program: Path, layout: Layout) -> list[str]:
    """An etcd on sockets only; nothing survives the run, so it never waits for the disk.

    It insists on advertising addresses with a port. A single member is never reached at them.
    """
    nowhere = f"http://{HOST}:1"
    own = {
        "name": "schedlab",
        "data-dir": str(layout.etcd_data),
        "listen-client-urls": f"unix://{layout.etcd_socket}",
        "advertise-client-urls": nowhere,
        "listen-peer-urls": f"unix://{layout.private}/peer.sock",
        "initial-advertise-peer-urls": nowhere,
        "initial-cluster": f"schedlab={nowhere}",
        "unsafe-no-fsync": "true",
        "heartbeat-interval": "20",  # a single member still waits for an election, which this makes short
        "election-timeout": "100",
        "auto-compaction-retention": "0",
        "quota-backend-bytes": str(4 << 30),
        "log-level": "warn",
        "logger": "zap",
    }
    return [str(program), *flags(own, {})]


def kube_apiserver(program: Path, layout: Layout, port: int, given: Mapping[str, str]) -> list[str]:
    """The API server with RBAC, the audit log, and certificates of its own.

    The ServiceAccount admission plugin is off: with it a pod created right after its namespace is refused
    until the controller manager has made the account, which tests would meet as a race.
    """
    pki = layout.certificates
    own = {
        "etcd-servers": f"unix://{layout.etcd_socket}",
        "bind-address": HOST,
        "advertise-address": HOST,
        "secure-port": str(port),
        "endpoint-reconciler-type": "none",
        "tls-cert-file": str(pki / "server.crt"),
        "tls-private-key-file": str(pki / "server.key"),
        "client-ca-file": str(pki / "ca.crt"),
        "authorization-mode": "RBAC",
        "anonymous-auth": "false",
        "disable-admission-plugins": "ServiceAccount",
        "service-cluster-ip-range": SERVICE_RANGE,
        "service-account-issuer": "https://kubernetes.default.svc",
        "service-account-key-file": str(pki / "service-accounts.key"),
        "service-account-signing-key-file": str(pki / "service-accounts.key"),
        "audit-policy-file": str(layout.audit_policy),
        "audit-log-path": str(layout.audit_log),
        "audit-log-maxsize": "4096",
        "allow-privileged": "true",
        "profiling": "false",
        "shutdown-delay-duration": "0s",
    }
    return [str(program), *flags(own, given)]


def kube_controller_manager(
    program: Path, layout: Layout, port: int, kubeconfig: Path, given: Mapping[str, str]
) -> list[str]:
    """The only kube-controller-manager, its API limits lifted so that hundreds of nodes settle at once."""
    own = {
        "kubeconfig": str(kubeconfig),
        "authentication-kubeconfig": str(kubeconfig),
        "authorization-kubeconfig": str(kubeconfig),
        "bind-address": HOST,
        "secure-port": str(port),
        "tls-cert-file": str(layout.certificates / "server.crt"),
        "tls-private-key-file": str(layout.certificates / "server.key"),
        "leader-elect": "false",
        "controllers": ",".join(["*", *(f"-{name}" for name in _IDLE_CONTROLLERS)]),
        "service-account-private-key-file": str(layout.certificates / "service-accounts.key"),
        "kube-api-qps": "500",
        "kube-api-burst": "1000",
        # A claim and its volume that come at the same time may miss each other; by default the controller
        # looks again after 15 s.
        "pvclaimbinder-sync-period": "1s",
        "profiling": "false",
    }
    return [str(program), *flags(own, given)]


def kwok(program: Path, layout: Layout, port: int, kubeconfig: Path, given: Mapping[str, str]) -> list[str]:
    """A kwok with schedlab's stages, for the nodes that are marked as fake and their pods."""
    own = {
        "config": str(layout.stages),
        "kubeconfig": str(kubeconfig),
        "manage-all-nodes": "false",
        "manage-nodes-with-annotation-selector": "kwok.x-k8s.io/node=fake",
        "node-lease-duration-seconds": str(LEASE_SECONDS),
        "cidr": POD_RANGE,
        "server-address": f"{HOST}:{port}",
    }
    return [str(program), *flags(own, given)]

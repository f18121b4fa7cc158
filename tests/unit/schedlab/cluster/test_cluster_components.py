"""The command lines hold what suites rely on; a spec's flags win."""

from pathlib import Path

import pytest
import yaml

from schedlab.cluster import audit, components
from schedlab.cluster.layout import SCHEDULER, USERS, Layout, plan, stages
from schedlab.errors import EnvironmentStartError

LAYOUT = Layout(directory=Path("/run/dir"), private=Path("/private"))


def flags(argv):
    """The flags of a command line by name."""
    return dict(part.removeprefix("--").split("=", 1) for part in argv[1:])


def test_a_given_flag_replaces_our_own():
    """And new ones are added."""
    argv = components.kube_controller_manager(
        Path("/bin/kcm"), LAYOUT, 1, Path("/k"), {"kube-api-qps": "7", "node-monitor-grace-period": "10s"}
    )
    given = flags(argv)
    assert (given["kube-api-qps"], given["node-monitor-grace-period"]) == ("7", "10s")
    assert len(given) == len(argv) - 1


@pytest.mark.parametrize("flag", ["feature-gates", "controllers"])
def test_lists_are_joined_instead_of_replaced(flag):
    """A gate or a controller more must not switch the others back."""
    assert components.flags({flag: "A=true"}, {flag: "B=false"}) == [f"--{flag}=A=true,B=false"]


def test_the_api_server_is_what_the_suites_expect():
    """RBAC, nobody anonymous, loopback only, an audit log, and no admission that waits for accounts."""
    given = flags(components.kube_apiserver(Path("/bin/kas"), LAYOUT, 4242, {}))
    assert given["authorization-mode"] == "RBAC"
    assert given["anonymous-auth"] == "false"
    assert (given["bind-address"], given["secure-port"]) == ("127.0.0.1", "4242")
    assert given["audit-log-path"] == "/run/dir/audit.log"
    assert given["disable-admission-plugins"] == "ServiceAccount"
    assert given["etcd-servers"] == "unix:///private/etcd.sock"


def test_etcd_listens_on_no_port():
    """Only its owner can reach a socket in a private directory."""
    given = flags(components.etcd(Path("/bin/etcd"), LAYOUT))
    assert given["listen-client-urls"].startswith("unix:///private/")
    assert given["listen-peer-urls"].startswith("unix:///private/")
    assert given["unsafe-no-fsync"] == "true"


def test_claims_do_not_wait_long_for_their_volume():
    """The controller looks at unbound claims every second, where the default would cost a test 15."""
    given = flags(components.kube_controller_manager(Path("/b"), LAYOUT, 1, Path("/k"), {}))
    assert given["pvclaimbinder-sync-period"] == "1s"


def test_controllers_that_suites_need_run():
    """All but those which only kubelets, clouds or certificate requests give work to."""
    off = flags(components.kube_controller_manager(Path("/b"), LAYOUT, 1, Path("/k"), {}))["controllers"]
    assert off.startswith("*,")
    for needed in (
        "node-lifecycle-controller",
        "taint-eviction-controller",
        "device-taint-eviction-controller",
        "replicaset-controller",
        "job-controller",
        "daemonset-controller",
        "namespace-controller",
        "garbage-collector-controller",
        "persistentvolume-binder-controller",
        "disruption-controller",
        "endpointslice-controller",
        "resourceclaim-controller",
    ):
        assert f"-{needed}" not in off.split(",")


def test_no_controller_writes_to_every_node_when_there_are_more():
    """Only kubelets read the annotation by which ttl-controller tells them how long to cache secrets."""
    given = flags(components.kube_controller_manager(Path("/b"), LAYOUT, 1, Path("/k"), {}))["controllers"]
    assert "-ttl-controller" in given.split(",")


def test_kwok_manages_marked_nodes_only_and_renews_leases():
    """Leases are renewed within the node monitor's grace period of 50 s."""
    given = flags(components.kwok(Path("/bin/kwok"), LAYOUT, 1, Path("/k"), {}))
    assert given["manage-all-nodes"] == "false"
    assert given["manage-nodes-with-annotation-selector"] == "kwok.x-k8s.io/node=fake"
    assert int(given["node-lease-duration-seconds"]) < 50


def test_given_flags_of_kwok_win():
    """As those of the other programs."""
    own = {"node-lease-duration-seconds": "4"}
    given = flags(components.kwok(Path("/bin/kwok"), LAYOUT, 1, Path("/k"), own))
    assert given["node-lease-duration-seconds"] == "4"


def test_the_scheduler_is_no_master():
    """It has what RBAC gives `system:kube-scheduler`, since that is part of what is tested."""
    assert USERS[SCHEDULER] == ()
    assert USERS["admin"] == ("system:masters",)


def level(verb, resource, *, group="", user="x", namespace="default"):
    """The level that the policy gives a request, by the API server's rules."""
    for rule in audit.policy(SCHEDULER)["rules"]:
        if "users" in rule and user not in rule["users"]:
            continue
        if "verbs" in rule and verb not in rule["verbs"]:
            continue
        if "namespaces" in rule and namespace not in rule["namespaces"]:
            continue
        if "resources" in rule and not any(
            one["group"] == group
            and (
                "resources" not in one
                or resource in one["resources"]
                or _wildcard(resource, one["resources"])
            )
            for one in rule["resources"]
        ):
            continue
        return rule["level"]
    return "None"


def _wildcard(resource, patterns):
    return "/" in resource and resource.partition("/")[0] + "/*" in patterns


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ({"verb": "create", "resource": "pods/binding"}, "Request"),
        ({"verb": "patch", "resource": "pods/status"}, "Request"),
        ({"verb": "create", "resource": "pods/eviction"}, "Request"),
        ({"verb": "delete", "resource": "pods"}, "Request"),
        ({"verb": "update", "resource": "leases", "group": "coordination.k8s.io"}, "Request"),
        ({"verb": "create", "resource": "events", "group": "events.k8s.io"}, "Request"),
        (
            {
                "verb": "update",
                "resource": "leases",
                "group": "coordination.k8s.io",
                "namespace": "kube-node-lease",
            },
            "None",
        ),
        ({"verb": "create", "resource": "secrets"}, "Metadata"),
        ({"verb": "create", "resource": "serviceaccounts/token"}, "Metadata"),
        ({"verb": "create", "resource": "tokenreviews", "group": "authentication.k8s.io"}, "Metadata"),
        ({"verb": "update", "resource": "configmaps"}, "Metadata"),
        ({"verb": "list", "resource": "pods"}, "None"),
        ({"verb": "list", "resource": "pods", "user": SCHEDULER}, "Metadata"),
        ({"verb": "create", "resource": "deployments", "group": "apps"}, "Metadata"),
    ],
    ids=lambda value: " ".join(value.values()) if isinstance(value, dict) else value,
)
def test_the_audit_log_records(request_, expected):
    """Bodies of what is judged, never the content of a secret, and the scheduler's reads for refused ones."""
    assert level(**request_) == expected


def test_every_stage_is_for_kwok_and_named_after_its_file():
    """One file, one stage."""
    found = list(yaml.safe_load_all(stages()))
    assert {one["kind"] for one in found} == {"Stage"}
    nodes = ["node-allocatable", "node-heartbeat", "node-initialize"]
    pods = ["pod-complete", "pod-crash", "pod-delete", "pod-image", "pod-ready", "pod-restart"]
    assert [one["metadata"]["name"] for one in found] == [*nodes, *pods]


def test_the_private_directory_is_private_and_its_socket_paths_are_short(tmp_path, monkeypatch):
    """Mode 0700; a Unix socket's path may not exceed 107 bytes, however long TMPDIR is."""
    deep = tmp_path / ("d" * 100)
    deep.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    layout = plan(None)
    layout.create()
    try:
        assert layout.private.stat().st_mode & 0o777 == 0o700
        assert len(str(layout.etcd_socket)) < 104
        assert layout.directory.is_relative_to(layout.private)
    finally:
        layout.remove_private()
    assert not layout.private.exists()


def test_a_directory_that_somebody_else_made_is_not_used(tmp_path):
    """It may be readable by others, or a link to elsewhere."""
    layout = Layout(directory=tmp_path / "run", private=tmp_path / "taken")
    layout.private.mkdir()
    with pytest.raises(EnvironmentStartError, match="taken cannot be made: File exists"):
        layout.create()


def test_a_given_run_directory_keeps_the_logs(tmp_path):
    """Keys and data are elsewhere, so removing them leaves it whole."""
    layout = plan(tmp_path / "mine")
    layout.create()
    layout.log("etcd").write_text("x")
    layout.remove_private()
    assert layout.log("etcd").read_text() == "x"


def test_everything_secret_is_written_for_the_owner_only(tmp_path):
    """Keys and kubeconfigs, each 0600 in directories of 0700."""
    layout = plan(tmp_path / "run")
    layout.create()
    try:
        layout.prepare(name="lab", server="https://127.0.0.1:1")
        secret = [*layout.certificates.glob("*.key"), *(layout.private / "kubeconfigs").glob("*")]
        assert len(secret) == 3 + len(USERS)
        assert {path.stat().st_mode & 0o777 for path in secret} == {0o600}
        assert {path.parent.stat().st_mode & 0o777 for path in secret} == {0o700}
    finally:
        layout.remove_private()

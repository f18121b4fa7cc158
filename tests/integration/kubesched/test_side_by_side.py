"""What both schedulers serve and refuse, side by side, as three generated pages of the documentation."""

from __future__ import annotations

import json
import re
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import kubernetes
import pytest
from tests.integration.kubesched.conftest import USER, boot
from tests.integration.kubesched.objects import condition, pod, scheduled
from tests.integration.kubesched.side_by_side import documented, families, table

from schedlab.cluster.nodes import parse_groups

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]

SCHEDULERS = ("kube-scheduler", "kubesched")

# Families that only kube-scheduler has, by the beginning of their names, and why.
BATCHING = "kubesched remembers answers for like pods in another way (decision 20), and has no batch"
OTHERS = {
    "scheduler_batch_": BATCHING,
    "scheduler_get_node_hint_": BATCHING,
    "scheduler_store_schedule_results_": BATCHING,
    "aggregator_": "of kube-apiserver, whose library is linked; always 0",
    "apiserver_audit_": "of kube-apiserver, whose library is linked; always 0",
    "apiserver_envelope_": "of kube-apiserver, whose library is linked; always 0",
    "apiserver_storage_": "of kube-apiserver, whose library is linked; always 0",
    "apiserver_validation_": "of kube-apiserver, whose library is linked; always 0",
    "apiserver_webhooks_": "of kube-apiserver, whose library is linked; always 0",
    "go_": "Go's runtime",
    "rest_client_transport_": "client-go's cache of transports; a client of kubesched is its pool",
    "workqueue_": "client-go's queues, by which kube-scheduler renews certificates",
}
PATHS = (
    "/healthz", "/livez", "/readyz", "/readyz/shutdown", "/readyz/sched-handler-sync", "/healthz/ping",
    "/readyz/nope", "/metrics", "/metrics/slis", "/metrics/resources", "/configz", "/statusz", "/flagz",
    "/version", "/", "/nope", "/debug/pprof", "/debug/pprof/", "/debug/pprof/goroutine", "/debug/pprof/heap",
    "/debug/pprof/allocs", "/debug/pprof/block", "/debug/pprof/mutex", "/debug/pprof/threadcreate",
    "/debug/pprof/profile?seconds=1", "/debug/pprof/symbol", "/debug/pprof/trace?seconds=0.1",
    "/debug/pprof/cmdline", "/debug/pprof/nope", "/debug/flags", "/debug/flags/v",
)  # fmt: skip
PROFILING = {"/debug/pprof/trace?seconds=0.1": "Go's execution trace: 501"}


@pytest.fixture(scope="module")
def both(own_state):
    """Each scheduler on a control plane of its own, after the same work."""
    labs = {which: boot(which, nodes=parse_groups("cpu-32=3"), zones=3) for which in SCHEDULERS}
    try:
        yield {which: (lab, work(lab, which)) for which, lab in labs.items()}
    finally:
        for lab in labs.values():
            lab.end()


def work(lab, which: str):
    """Let a scheduler bind, reject, wake and preempt, so that it uses every metric it has."""
    scheduler, core = lab.start(which), lab.core()
    classes = kubernetes.client.SchedulingV1Api(core.api_client)
    classes.create_priority_class({"metadata": {"name": "high"}, "value": 100})
    for index in range(24):
        core.create_namespaced_pod("default", pod(f"p{index}", cpu="1"))
    for index in range(24):
        scheduled(core, "default", f"p{index}")
    for index in range(3):
        core.create_namespaced_pod("default", pod(f"full{index}", cpu="23", terminationGracePeriodSeconds=0))
        scheduled(core, "default", f"full{index}")
    core.create_namespaced_pod("default", pod("waits", cpu="20"))
    condition(core, "default", "waits")
    core.create_namespaced_pod("default", pod("first", cpu="23", priorityClassName="high"))
    scheduled(core, "default", "first")
    core.delete_namespaced_pod("p0", "default", grace_period_seconds=0)
    return scheduler


def status(scheduler, path: str, *, context: ssl.SSLContext | None = None, token: str = "") -> int:
    """The code of a request; 0 without an answer."""
    context = context or ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    request = urllib.request.Request(f"https://127.0.0.1:{scheduler.port}{path}")
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, context=context, timeout=10) as reply:
            return reply.status
    except urllib.error.HTTPError as error:
        return error.code


def test_metrics_are_the_references(both, tmp_path):
    """Same names, types, help, labels and buckets; families that are missing are listed with a reason."""
    shown = {}
    for which, (lab, scheduler) in both.items():
        status(scheduler, "/metrics", token="nonsense")
        status(scheduler, "/metrics", context=lab.credentials(tmp_path, USER))
        code, text = scheduler.get("/metrics", lab.credentials(tmp_path))
        assert code == 200
        shown[which] = families(text)
    reference, ours = (shown[which] for which in SCHEDULERS)
    missing = {name for name in reference if name.startswith(tuple(OTHERS))}
    different = {name for name in {*reference, *ours} - missing if reference.get(name) != ours.get(name)}
    assert not different, {name: (reference.get(name), ours.get(name)) for name in sorted(different)}
    assert not missing & ours.keys(), "these need no excuse"
    groups = {"Of the scheduler": ("scheduler_", "kubernetes_"), "Of its surroundings": ("",)}
    sections, told = {}, set(missing)
    for heading, beginnings in groups.items():
        names = sorted(name for name in reference if name.startswith(beginnings) and name not in told)
        told |= set(names)
        rows = [
            (f"`{name}`", family.type, ", ".join(family.labels), str(len(family.buckets) or ""))
            for name in names
            for family in [reference[name]]
        ]
        sections[heading] = "Same type, help text, labels and buckets in both.\n\n" + table(
            ["metric", "type", "labels", "buckets"], rows
        )
    listed = [
        (f"`{name}*`", about) for name, about in OTHERS.items() if any(m.startswith(name) for m in missing)
    ]
    sections["Not in kubesched"] = table(["families", "why"], listed)
    documented("metrics.md", "Metrics of kube-scheduler and kubesched", sections)


def test_paths_and_credentials_are_answered_alike(both, tmp_path):
    """Every path, for nobody, for a wrong token, for a user without rights, and for an administrator."""
    answers = {}
    for which, (lab, scheduler) in both.items():
        people = {
            "nobody": {},
            "wrong token": {"token": "nonsense"},
            f"`{USER}`": {"context": lab.credentials(tmp_path, USER)},
            "administrator": {"context": lab.credentials(tmp_path)},
        }
        answers[which] = {
            path: {who: status(scheduler, path, **how) for who, how in people.items()} for path in PATHS
        }
    reference, ours = (answers[which] for which in SCHEDULERS)
    rows = []
    for path in PATHS:
        codes = [str(code) for code in reference[path].values()]
        equal = reference[path] == ours[path]
        assert equal is (path not in PROFILING), (path, reference[path], ours[path])
        rows.append((f"`{path}`", *codes, "equal" if equal else PROFILING[path]))
    heads = ["path", *next(iter(reference.values())), "kubesched"]
    documented(
        "paths.md",
        "Paths of the secure port, with and without credentials",
        {"Status codes": table(heads, rows)},
    )


WRONG = {
    "an unknown field": "percentageOfNodesToScor: 5\n",
    "a field twice": "parallelism: 4\nparallelism: 5\n",
    "a wrong type": 'parallelism: "many"\n',
    "no parallelism": "parallelism: -1\n",
    "a percentage above 100": "percentageOfNodesToScore: 101\n",
    "two profiles of one name": "profiles:\n- schedulerName: a\n- schedulerName: a\n",
    "two queue orders": (
        "profiles:\n- schedulerName: a\n- schedulerName: b\n  plugins:\n    queueSort:\n"
        "      enabled: [{name: Coscheduling}]\n      disabled: [{name: '*'}]\n"
    ),
    "an unknown plugin": "profiles:\n- plugins:\n    filter:\n      enabled: [{name: NodeAfinity}]\n",
    "plugin arguments out of range": (
        "profiles:\n- pluginConfig:\n  - name: InterPodAffinity\n    args: {hardPodAffinityWeight: 101}\n"
    ),
    "arguments of another plugin": (
        "profiles:\n- pluginConfig:\n  - name: NodeResourcesFit\n    args:\n"
        "      apiVersion: kubescheduler.config.k8s.io/v1\n      kind: NodeAffinityArgs\n"
    ),
    "an unknown argument": (
        "profiles:\n- pluginConfig:\n  - name: NodeResourcesFit\n    args: {ignoredResource: [a.b/c]}\n"
    ),
    "arguments twice": (
        "profiles:\n- pluginConfig:\n  - {name: VolumeBinding, args: {}}\n"
        "  - {name: VolumeBinding, args: {}}\n"
    ),
    "a duration without a unit": "leaderElection: {leaseDuration: 15}\n",
    "two extenders that bind": (
        "extenders:\n- {urlPrefix: 'http://a', bindVerb: bind}\n- {urlPrefix: 'http://b', bindVerb: bind}\n"
    ),
}
# Files that are wrong as a whole.
FILES = {
    "a version that was removed": (
        "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n"
    ),
    "no version": "kind: KubeSchedulerConfiguration\n",
    "another kind": "apiVersion: kubescheduler.config.k8s.io/v1\nkind: NodeResourcesFitArgs\n",
    "nothing": "",
    "a list": "- a\n",
    "a tab": "apiVersion: kubescheduler.config.k8s.io/v1\n\tkind: KubeSchedulerConfiguration\n",
    "JSON with a field twice": (
        '{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",\n'
        ' "parallelism": 1, "parallelism": 2}\n'
    ),
}
HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def test_wrong_configurations_are_refused_alike(both, tmp_path: Path):
    """Both exit with 1; kubesched also names line and column."""
    lab, _ = both["kube-scheduler"]
    commands = {
        "kube-scheduler": [str(lab.plane.tools.path("kube-scheduler"))],
        "kubesched": [sys.executable, "-m", "kubesched"],
    }
    kubeconfig = f"clientConnection: {{kubeconfig: '{lab.plane.kubeconfig(USER)}'}}\n"
    sections = {}
    wholes = {what: (body, f"{HEAD}{body}{kubeconfig}") for what, body in WRONG.items()}
    wholes |= {what: (body, body) for what, body in FILES.items()}
    for what, (body, whole) in wholes.items():
        file = tmp_path / "config.yaml"
        file.write_text(whole)
        text = f"```yaml\n{body}```\n\n"
        for which, command in commands.items():
            run = subprocess.run(
                [*command, f"--config={file}", "--secure-port=0", "--leader-elect=false"],
                capture_output=True, text=True, timeout=60, check=False,
            )  # fmt: skip
            assert run.returncode == 1, (which, what, run.stderr)
            said = _error(run.stdout + run.stderr).replace(str(file), "config.yaml")
            assert which == "kube-scheduler" or said.startswith("config.yaml:"), said
            text += f"{which}:\n\n```text\n{said}\n```\n\n"
        sections[what.capitalize()] = text.rstrip("\n") + "\n"
    documented("wrong-configurations.md", "Wrong configurations", sections)


def _error(output: str) -> str:
    """The text of the error that ended a process."""
    several = re.findall(r'"command failed" err=<\n(.*?)\n >', output, re.DOTALL)
    one = re.findall(r'"command failed" err="((?:[^"\\]|\\.)*)"', output)
    assert several or one, output[-2000:]
    if several:
        return "\n".join(line.removeprefix("\t") for line in several[-1].splitlines())
    return str(json.loads(f'"{one[-1]}"'))


ROLES = ("system:kube-scheduler", "system:volume-scheduler")
NEEDED = {
    "leases": "leader election, which is off here",
    "leasecandidates": "coordinated leader election, which is off by default",
    "persistentvolumes": "binding volumes",
    "persistentvolumeclaims": "binding volumes",
    "tokenreviews": "requests with a token",
    "subjectaccessreviews": "requests of users",
}


def test_rights_are_enough_and_those_unused_are_known(both):
    """Neither scheduler was forbidden anything; what kubesched does not use of its role is listed."""
    lab, _ = both["kubesched"]
    roles = kubernetes.client.RbacAuthorizationV1Api(lab.core().api_client)
    granted = sorted(
        {
            (resource, verb)
            for role in ROLES
            for rule in roles.read_cluster_role(role).rules
            for resource in rule.resources or ()
            for verb in rule.verbs
        }
    )
    used = {}
    for which, (lab, _) in both.items():
        assert lab.refusals() == [], which
        used[which] = requests(lab)
    rows = []
    for resource, verb in granted:
        marks = ["used" if (resource, verb) in used[which] else "" for which in SCHEDULERS]
        about = NEEDED.get(resource, "") if not any(marks) else ""
        rows.append((f"`{resource}`", verb, *marks, about))
    documented(
        "rights.md",
        "What the role of a scheduler allows, and what is used",
        {"Of the cluster roles": table(["resource", "verb", *SCHEDULERS, "otherwise needed for"], rows)},
    )


def requests(lab) -> set[tuple[str, str]]:
    """Resource and verb of every request that the scheduler's user made."""
    found = set()
    for line in lab.plane.audit_log.read_text().splitlines():
        event = json.loads(line)
        reference = event.get("objectRef")
        if event["user"]["username"] == USER and reference:
            subresource = reference.get("subresource")
            resource = reference["resource"] + (f"/{subresource}" if subresource else "")
            found.add((resource, event["verb"]))
    return found

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

# Metrics that kube-scheduler shows and kubesched does not, or not in the same form.
BATCHING = "kubesched remembers answers for like pods in another way, and has no batch to flush"
DIFFERENT = {
    "scheduler_batch_attempts_total": BATCHING,
    "scheduler_batch_cache_flushed_total": BATCHING,
    "scheduler_get_node_hint_duration_seconds": BATCHING,
    "scheduler_store_schedule_results_duration_seconds": BATCHING,
}
# Families that are about Go, its libraries, or what a scheduler does not do.
OTHERS = {
    "aggregator_": "kube-apiserver's library",
    "apiserver_": "kube-apiserver's library",
    "authenticated_": "requests to the secure port",
    "authentication_": "requests to the secure port",
    "authorization_": "requests to the secure port",
    "cardinality_": "metric labels are not limited",
    "disabled_": "no metric can be switched off",
    "go_": "Go's runtime",
    "hidden_": "no metric is hidden",
    "process_": "not in Python's client",
    "registered_": "metrics about metrics",
    "rest_client_": "client-go",
    "version_": "client-go",
    "workqueue_": "client-go",
}
PATHS = (
    "/healthz", "/livez", "/readyz", "/readyz/shutdown", "/readyz/sched-handler-sync", "/healthz/ping",
    "/readyz/nope", "/metrics", "/metrics/slis", "/metrics/resources", "/configz", "/statusz", "/flagz",
    "/version", "/", "/nope", "/debug/pprof/",
)  # fmt: skip
PROFILING = {"/debug/pprof/": "Go's profiler; there is none in kubesched"}


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
    """Same names, types, help, labels and buckets, but for those that are listed with a reason."""
    shown = {}
    for which, (lab, scheduler) in both.items():
        admin = lab.credentials(tmp_path)
        code, text = scheduler.get("/metrics", admin)
        assert code == 200
        shown[which] = families(text)
    reference, ours = (shown[which] for which in SCHEDULERS)
    own = sorted(name for name in {*reference, *ours} if name.startswith(("scheduler_", "kubernetes_")))
    different = {name for name in own if reference.get(name) != ours.get(name)}
    assert different == set(DIFFERENT), {
        name: (reference.get(name), ours.get(name)) for name in different ^ set(DIFFERENT)
    }
    rows = []
    for name in own:
        family = reference.get(name) or ours[name]
        buckets = f"{len(family.buckets)}" if family.buckets else ""
        verdict = DIFFERENT.get(name, "equal")
        rows.append((f"`{name}`", family.type, ", ".join(family.labels), buckets, verdict))
    rest = sorted(name for name in reference if name not in ours and not name.startswith("scheduler_"))
    missing = {prefix for prefix in OTHERS if any(name.startswith(prefix) for name in rest)}
    assert all(name.startswith(tuple(OTHERS)) for name in rest), rest
    documented(
        "metrics.md",
        "Metrics of kube-scheduler and kubesched",
        {
            "Of the scheduler": "Equal means: same type, help text, labels and buckets.\n\n"
            + table(["metric", "type", "labels", "buckets", "kubesched"], rows),
            "Not in kubesched": table(
                ["families", "about"], [(f"`{prefix}*`", OTHERS[prefix]) for prefix in sorted(missing)]
            ),
        },
    )


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
    "two extenders that bind": (
        "extenders:\n- {urlPrefix: 'http://a', bindVerb: bind}\n- {urlPrefix: 'http://b', bindVerb: bind}\n"
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
    for what, body in WRONG.items():
        file = tmp_path / "config.yaml"
        file.write_text(f"{HEAD}{body}{kubeconfig}")
        text = f"```yaml\n{body}```\n\n"
        for which, command in commands.items():
            run = subprocess.run(
                [*command, f"--config={file}", "--secure-port=0", "--leader-elect=false"],
                capture_output=True, text=True, timeout=60, check=False,
            )  # fmt: skip
            assert run.returncode == 1, (which, what, run.stderr)
            said = _error(run.stdout + run.stderr).replace(str(file), "config.yaml")
            assert which == "kube-scheduler" or "config.yaml:" in said, said
            text += f"{which}:\n\n```text\n{said}\n```\n\n"
        sections[what.capitalize()] = text.rstrip("\n") + "\n"
    documented("wrong-configurations.md", "Ten wrong configurations", sections)


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

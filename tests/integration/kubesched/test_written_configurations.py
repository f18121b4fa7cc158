"""`--write-config-to` of both schedulers, byte by byte: decoding, defaulting and encoding in one."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from kubesched.app import setup
from kubesched.config.flags import ALL
from kubesched.config.flagset import parse
from schedlab.cluster.tools import find

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://127.0.0.1:9"}}]
users: [{name: u, user: {}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
"""


def args(plugin: str, text: str) -> str:
    """A profile with arguments for one plugin."""
    return f"profiles:\n- pluginConfig:\n  - name: {plugin}\n    args: {text}\n"


CONFIGURATIONS = {
    "nothing but its kind": "",
    "scalars": "parallelism: 3\npercentageOfNodesToScore: 70\npodInitialBackoffSeconds: 2\n"
    "podMaxBackoffSeconds: 20\nenableProfiling: false\nenableContentionProfiling: false\n"
    "delayCacheUntilActive: true\n",
    "zeros": "percentageOfNodesToScore: 0\n",
    "a connection": "clientConnection: {qps: 0.5, burst: 7, contentType: application/json, "
    "acceptContentTypes: a}\n",
    "an election": "leaderElection: {leaderElect: false, leaseDuration: 1m0s, renewDeadline: 50s, "
    "retryPeriod: 1500ms, resourceName: mine, resourceNamespace: there}\n",
    "two profiles": "profiles:\n- schedulerName: a\n- schedulerName: b\n  percentageOfNodesToScore: 50\n",
    "plugins disabled": "profiles:\n- plugins:\n    score:\n      disabled: [{name: ImageLocality}]\n"
    "    multiPoint:\n      disabled: [{name: NodePorts}]\n",
    "plugins reordered": "profiles:\n- plugins:\n    filter:\n      disabled: [{name: '*'}]\n"
    "      enabled: [{name: TaintToleration}, {name: NodeName}]\n"
    "    score: {enabled: [{name: NodeAffinity, weight: 7}]}\n",
    "a weight for all points": "profiles:\n- plugins:\n    multiPoint:\n"
    "      enabled: [{name: TaintToleration, weight: 9}]\n",
    "fit, least allocated": args(
        "NodeResourcesFit", "{scoringStrategy: {type: LeastAllocated, resources: [{name: cpu, weight: 3}]}}"
    ),
    "fit, a shape": args(
        "NodeResourcesFit",
        "{ignoredResources: [a.b/c], ignoredResourceGroups: [d.e], scoringStrategy: {type: "
        "RequestedToCapacityRatio, requestedToCapacityRatio: {shape: [{utilization: 0, score: 0}, "
        "{utilization: 100, score: 10}]}, resources: [{name: memory}]}}",
    ),
    "balance": args(
        "NodeResourcesBalancedAllocation", "{resources: [{name: cpu}, {name: a.b/c, weight: 1}]}"
    ),
    "affinity between pods": args(
        "InterPodAffinity", "{hardPodAffinityWeight: 0, ignorePreferredTermsOfExistingPods: true}"
    ),
    "spread by list": args(
        "PodTopologySpread",
        "{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: zone, "
        "whenUnsatisfiable: ScheduleAnyway}]}",
    ),
    "added affinity": args(
        "NodeAffinity",
        "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
        "[{matchExpressions: [{key: a, operator: In, values: [b, c]}]}]}}}",
    ),
    "preemption": args(
        "DefaultPreemption", "{minCandidateNodesPercentage: 20, minCandidateNodesAbsolute: 5}"
    ),
    "volumes": args("VolumeBinding", "{bindTimeoutSeconds: 5}"),
    "devices": args("DynamicResources", "{filterTimeout: 3s}"),
    "extenders": "extenders:\n- urlPrefix: http://a/b\n  filterVerb: f\n  prioritizeVerb: p\n  weight: 3\n"
    "  httpTimeout: 2s\n  nodeCacheCapable: true\n  ignorable: true\n"
    "  managedResources: [{name: a.b/c, ignoredByScheduler: true}]\n"
    "- urlPrefix: https://c\n  bindVerb: b\n  enableHTTPS: true\n"
    "  tlsConfig: {insecure: true, serverName: s}\n",
    "JSON": json.dumps({"parallelism": 5, "profiles": [{"schedulerName": "a"}]}),
    "several texts to quote": 'profiles:\n- schedulerName: "yes"\n- schedulerName: "1"\n'
    '- schedulerName: "null"\n- schedulerName: "a: b"\n- schedulerName: "0x1"\n',
}


@pytest.mark.parametrize("body", CONFIGURATIONS.values(), ids=CONFIGURATIONS.keys())
def test_what_is_written_is_the_references_to_the_byte(body, tmp_path):
    """Whatever stands in the file, and in any order."""
    kubeconfig, given = tmp_path / "kubeconfig", tmp_path / "given.yaml"
    kubeconfig.write_text(KUBECONFIG)
    given.write_text(_whole(body, kubeconfig))
    common = (f"--config={given}", "--secure-port=0")
    theirs, ours = tmp_path / "theirs.yaml", tmp_path / "ours.yaml"
    program = find(["kube-scheduler"]).path("kube-scheduler")
    run = subprocess.run(
        [program, *common, f"--write-config-to={theirs}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert setup(parse([*common, f"--write-config-to={ours}"], ALL)) is None
    assert ours.read_text() == theirs.read_text()


def _whole(body: str, kubeconfig: Path) -> str:
    """The file: with its kind, and with a kubeconfig, which only a file may name."""
    if body.startswith("{"):
        more = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "clientConnection": {"kubeconfig": str(kubeconfig)},
        }
        return json.dumps({**json.loads(body), **more})
    if "clientConnection: {" in body:
        return HEAD + body.replace("clientConnection: {", f"clientConnection: {{kubeconfig: {kubeconfig}, ")
    return f"{HEAD}{body}clientConnection: {{kubeconfig: {kubeconfig}}}\n"

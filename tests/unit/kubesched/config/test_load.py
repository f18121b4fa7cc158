"""Configuration files: what is read, what is refused, and where the error points."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
import yaml

from kubesched.config.args import NodeAffinityArgs, NodeResourcesFitArgs, PodTopologySpreadArgs
from kubesched.config.defaults import default_configuration
from kubesched.config.extended import as_run
from kubesched.config.gates import FeatureGates
from kubesched.config.go_yaml import GoDumper
from kubesched.config.load import dump, dumps, load, loads, revalidate
from kubesched.config.problems import ConfigError

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def problems(text: str, **options) -> list[str]:
    """The rendered problems of a file that starts after the two lines of HEAD."""
    with pytest.raises(ConfigError) as caught:
        loads(HEAD + text, source="f.yaml", **options)
    return str(caught.value).splitlines()


def test_a_file_with_nothing_but_its_kind_is_the_default_configuration():
    assert loads(HEAD) == default_configuration()


def test_a_file_is_read_from_disk_and_named_in_errors(tmp_path):
    path = tmp_path / "scheduler.yaml"
    path.write_text(HEAD + "parallelism: 4\n")
    assert load(path).parallelism == 4
    path.write_text(HEAD + "parallelism: x\n")
    with pytest.raises(ConfigError, match=rf"{path}:3:1: parallelism: expected an integer, found 'x'"):
        load(path)


def test_json_is_read_too():
    plain = {**dump(default_configuration()), "parallelism": 2}
    assert loads(json.dumps(plain)).parallelism == 2


def _cases():
    """Blocks of a title, the configuration, and after `=>` the problems expected for it."""
    text = (Path(__file__).parent / "wrong_configurations.txt").read_text()
    for block in text.split("\n\n## ")[1:]:
        title, _, rest = block.partition("\n")
        config, _, expected = rest.partition("\n=> ")
        yield pytest.param(config + "\n", expected.strip().split("\n=> "), id=title)


@pytest.mark.parametrize(("text", "expected"), list(_cases()))
def test_every_mistake_is_reported_with_its_place(text, expected):
    assert problems(text) == [f"f.yaml:{line}" for line in expected]


def test_all_mistakes_are_reported_at_once_in_the_order_of_the_file():
    found = problems("zzz: 1\nparallelism: -1\npodInitialBackoffSeconds: 0\npercentageOfNodesToScore: 200\n")
    assert [line.split(": ")[1] for line in found] == [
        "zzz",
        "parallelism",
        "podInitialBackoffSeconds",
        "percentageOfNodesToScore",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "f: expected a KubeSchedulerConfiguration, found no mapping"),
        ("- a\n", "f: expected a KubeSchedulerConfiguration, found no mapping"),
        ("kind: KubeSchedulerConfiguration\n", "f:1:1: apiVersion: Required value"),
        (
            "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n",
            'f:1:13: apiVersion: no kind is registered for "kubescheduler.config.k8s.io/v1beta3"',
        ),
        (
            "apiVersion: kubescheduler.config.k8s.io/v1\nkind: Pod\n",
            'f:2:7: kind: no kind is registered for "Pod"',
        ),
        ("a: [\n", "f:2:1: "),
        ("a: 1\n---\nb: 2\n", "f:3:1: a second document"),
        ("a: \x00\n", "f: not YAML"),
    ],
    ids=[
        "empty",
        "list",
        "no apiVersion",
        "old apiVersion",
        "other kind",
        "broken",
        "two documents",
        "binary",
    ],
)
def test_what_is_no_configuration_is_refused(text, expected):
    with pytest.raises(ConfigError) as caught:
        loads(text, source="f")
    assert str(caught.value).startswith(expected)


def test_a_file_too_large_to_be_a_configuration_is_refused(tmp_path):
    path = tmp_path / "big.yaml"
    path.write_bytes(b"#" * (3 * 1024 * 1024 + 1))
    with pytest.raises(ConfigError, match="larger than"):
        load(path)


def test_a_separator_with_nothing_after_it_is_no_second_document():
    assert loads(f"---\n{HEAD}parallelism: 3\n---\n").parallelism == 3


def test_a_whole_number_may_be_written_with_a_point():
    assert loads(f"{HEAD}parallelism: 3.0\n").parallelism == 3
    with pytest.raises(ConfigError, match="expected an integer"):
        loads(f"{HEAD}parallelism: 3.5\n")


def test_mappings_can_be_merged():
    """Keys beside `<<` win, and of several mappings the first; a key twice in one mapping stays wrong."""
    config = loads(
        HEAD
        + """
profiles:
- &a {schedulerName: a, percentageOfNodesToScore: 1}
- &b {schedulerName: b, percentageOfNodesToScore: 2}
- {<<: *a, schedulerName: c}
- {schedulerName: d, <<: [*b, *a]}
"""
    )
    found = [(profile.scheduler_name, profile.percentage_of_nodes_to_score) for profile in config.profiles]
    assert found == [("a", 1), ("b", 2), ("c", 1), ("d", 2)]
    with pytest.raises(ConfigError, match="a mapping or a list of mappings"):
        loads(f"{HEAD}profiles: [{{<<: 1, schedulerName: c}}]\n")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("plain", "plain"), ("", '""'), ("yes", '"yes"'), ("y", '"y"'), ("1", '"1"'), ("1e3", '"1e3"'),
        ("0o17", '"0o17"'), ("null", '"null"'), ("2001-01-01", '"2001-01-01"'), ("a: b", "'a: b'"),
        ("*", "'*'"), ("a\nb", "|-\n  a\n  b"),
    ],
)  # fmt: skip
def test_texts_are_quoted_as_go_quotes_them(text, written):
    assert yaml.dump({"k": text}, Dumper=GoDumper) == f"k: {written}\n"


def test_what_runs_has_only_arguments_that_a_plugin_takes_and_extenders_timeouts():
    config = loads(
        HEAD
        + """
extenders: [{urlPrefix: u, managedResources: [{name: a.b/c, ignoredByScheduler: true}]}]
profiles:
- plugins: {multiPoint: {disabled: [{name: VolumeBinding}]}}
  pluginConfig:
  - {name: VolumeBinding, args: {bindTimeoutSeconds: 5}}
  - {name: NodeResourcesFit, args: {ignoredResources: [d.e/f]}}
"""
    )
    running = as_run(config)
    assert running.extenders[0].http_timeout == 5.0
    names = [item.name for item in running.profiles[0].plugin_config]
    assert names == sorted(names)
    assert "VolumeBinding" not in names
    assert running.profiles[0].args("NodeResourcesFit").ignored_resources == ("a.b/c",)


def test_null_is_not_set():
    config = loads(HEAD + "parallelism: null\nleaderElection: ~\n")
    assert config == default_configuration()


def test_zero_is_not_set_where_upstream_says_so():
    config = loads(HEAD + "clientConnection: {qps: 0, burst: 0}\nleaderElection: {leaseDuration: 0s}\n")
    assert (config.client_connection.qps, config.client_connection.burst) == (50.0, 100)
    assert config.leader_election.lease_duration == 15.0


def test_plugin_args_are_typed_by_the_plugins_name():
    config = loads(
        HEAD
        + """
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: NodeResourcesFitArgs
      scoringStrategy: {type: MostAllocated, resources: [{name: nvidia.com/gpu, weight: 0}]}
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms: [{matchExpressions: [{key: gpu, operator: Exists}]}]
  - name: PodTopologySpread
    args:
      defaultingType: List
      defaultConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]
"""
    )
    profile = config.profiles[0]
    fit = profile.args("NodeResourcesFit")
    assert isinstance(fit, NodeResourcesFitArgs)
    assert fit.scoring_strategy.type == "MostAllocated"
    assert [(r.name, r.weight) for r in fit.scoring_strategy.resources] == [("nvidia.com/gpu", 1)]
    affinity = profile.args("NodeAffinity")
    assert isinstance(affinity, NodeAffinityArgs)
    assert affinity.added_affinity.required.node_selector_terms[0].match_expressions[0].key == "gpu"
    spread = profile.args("PodTopologySpread")
    assert isinstance(spread, PodTopologySpreadArgs)
    assert spread.default_constraints[0].topology_key == "zone"


def test_args_of_a_plugin_from_elsewhere_stay_plain_data():
    text = "profiles: [{pluginConfig: [{name: Mine, args: {a: [1, {b: true}], when: 2020-01-01}}]}]\n"
    config = loads(HEAD + text, plugins={"Mine", "PrioritySort"})
    assert config.profiles[0].args("Mine") == {"a": [1, {"b": True}], "when": "2020-01-01"}


def test_a_plugin_from_elsewhere_is_known_only_if_it_is_installed():
    assert 'unknown plugin "Mine"' in problems("profiles: [{pluginConfig: [{name: Mine}]}]\n")[0]


def test_args_that_need_a_gate_are_refused_without_it():
    text = (
        "profiles: [{pluginConfig: [{name: VolumeBinding, args: {shape: [{utilization: 0, score: 1}]}}]}]\n"
    )
    assert "turn on the feature gate StorageCapacityScoring" in problems(text)[0]
    assert loads(HEAD + text, gates=FeatureGates({"StorageCapacityScoring": True}))


def test_flags_can_break_a_good_file_and_that_is_said():
    config = default_configuration()
    election = msgspec.structs.replace(config.leader_election, lease_duration=1.0)
    with pytest.raises(ConfigError, match=r"command line: leaderElection.leaseDuration: Invalid value"):
        revalidate(msgspec.structs.replace(config, leader_election=election), FeatureGates(), "command line")


def test_what_is_written_reads_back_the_same():
    text = HEAD + "extenders: [{urlPrefix: u, httpTimeout: 1m30s, tlsConfig: {caData: YQ==}}]\n"
    config = loads(text)
    assert loads(dumps(config)) == config
    assert dump(config)["extenders"] == [
        {"urlPrefix": "u", "httpTimeout": "1m30s", "tlsConfig": {"caData": "YQ=="}}
    ]


def test_the_default_configuration_is_written_as_kube_scheduler_writes_it():
    """Golden: `kube-scheduler --write-config-to` of 1.36.3, with kubeconfig left empty."""
    written = yaml.safe_load(dumps(default_configuration()))
    profile = written["profiles"][0]
    assert written["clientConnection"] == {
        "acceptContentTypes": "",
        "burst": 100,
        "contentType": "application/vnd.kubernetes.protobuf",
        "kubeconfig": "",
        "qps": 50,
    }
    assert [config["name"] for config in profile["pluginConfig"]] == [
        "DefaultPreemption",
        "DynamicResources",
        "InterPodAffinity",
        "NodeAffinity",
        "NodeResourcesBalancedAllocation",
        "NodeResourcesFit",
        "PodTopologySpread",
        "VolumeBinding",
    ]
    assert profile["pluginConfig"][1]["args"] == {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "bindingTimeout": "10m0s",
        "filterTimeout": "10s",
        "kind": "DynamicResourcesArgs",
    }
    assert [(p["name"], p["weight"]) for p in profile["plugins"]["multiPoint"]["enabled"] if p["weight"]] == [
        ("TaintToleration", 3),
        ("NodeAffinity", 2),
        ("NodeResourcesFit", 1),
        ("PodTopologySpread", 2),
        ("InterPodAffinity", 2),
        ("DynamicResources", 2),
        ("NodeResourcesBalancedAllocation", 1),
        ("ImageLocality", 1),
    ]
    assert profile["plugins"]["score"] == {}
    assert "percentageOfNodesToScore" not in profile

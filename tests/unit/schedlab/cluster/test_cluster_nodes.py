"""Fake machines look as a kubelet and NVIDIA's discovery would have registered them."""

from pathlib import Path

import pytest

from schedlab.cluster import nodes, profile_table
from schedlab.errors import UsageError


def test_groups_are_read_in_order():
    """As in `schedlab up --nodes h100x8=4,cpu-32=2`."""
    assert nodes.parse_groups("h100x8=4, cpu-32=2") == [
        nodes.NodeGroup("h100x8", 4),
        nodes.NodeGroup("cpu-32", 2),
    ]
    assert nodes.parse_groups("") == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("h100x8", "'h100x8' is not PROFILE=COUNT"),
        ("h100x8=x", "'h100x8=x' is not PROFILE=COUNT"),
        ("h100x8=-1", "'h100x8=-1' is not PROFILE=COUNT"),
        ("h200=1", "there is no node profile 'h200'"),
        ("cpu-32=1,cpu-32=2", "profile cpu-32 is given twice"),
    ],
)
def test_a_wrong_group_is_refused(text, complaint):
    """Each mistake has its own words and a hint."""
    with pytest.raises(UsageError) as caught:
        nodes.parse_groups(text)
    assert caught.value.message == complaint
    assert caught.value.hint


WHOLE_GPUS = ["gb200-nvl72", "h100x8", "h200x8", "l40sx4", "l4x1", "t4x1"]


def test_the_profiles_are_there():
    """Machines with whole GPUs from the T4 to the GB200 tray, A100 cut by MIG, and no GPU at all."""
    assert nodes.profiles() == sorted([*WHOLE_GPUS, "a100-mig", "a100-mig-single", "cpu-32"])


@pytest.mark.parametrize("name", WHOLE_GPUS)
def test_discovery_labels_agree_with_the_gpus_of_the_machine(name):
    """As many GPUs as the label says, and the labels that jobs select by."""
    node = nodes.render(name, "gpu-0")
    labels = node["metadata"]["labels"]
    assert labels["nvidia.com/gpu.count"] == node["status"]["allocatable"]["nvidia.com/gpu"]
    assert labels["nvidia.com/gpu.present"] == "true"
    assert {"nvidia.com/gpu.product", "nvidia.com/gpu.memory", "nvidia.com/gpu.family"} <= labels.keys()
    rdma = labels.get("feature.node.kubernetes.io/rdma.available") == "true"
    assert rdma or "rdma/rdma_shared_device_a" not in node["status"]["capacity"]


FACTS = {
    # GPUs and their memory in MiB as nvidia-smi tells it, compute capability, product name, CPUs, memory
    "gb200-nvl72": ("4", "189471", "10.0", "NVIDIA-GB200", "144", "960Gi"),
    "h200x8": ("8", "143771", "9.0", "NVIDIA-H200", "224", "2Ti"),
    "h100x8": ("8", "81559", "9.0", "NVIDIA-H100-80GB-HBM3", "224", "2Ti"),
    "a100-mig": ("8", "81920", "8.0", "NVIDIA-A100-SXM4-80GB", "256", "2Ti"),
    "l40sx4": ("4", "46068", "8.9", "NVIDIA-L40S", "128", "1Ti"),
    "l4x1": ("1", "23034", "8.9", "NVIDIA-L4", "16", "64Gi"),
    "t4x1": ("1", "15360", "7.5", "Tesla-T4", "16", "64Gi"),
}


@pytest.mark.parametrize("name", FACTS)
def test_a_machine_is_what_its_maker_says(name):
    """DGX H100, H200 and A100, a GB200 tray, g2-standard-16, g4dn.4xlarge."""
    node = nodes.render(name, "n")
    labels, capacity = node["metadata"]["labels"], node["status"]["capacity"]
    capability = ".".join(labels[f"nvidia.com/gpu.compute.{part}"] for part in ("major", "minor"))
    described = (labels["nvidia.com/gpu.count"], labels["nvidia.com/gpu.memory"], capability)
    assert (*described, labels["nvidia.com/gpu.product"], capacity["cpu"], capacity["memory"]) == FACTS[name]


def test_slices_of_strategy_single_go_by_the_gpus_name():
    """56 of them, and the labels of the GPU describe a slice; NVIDIA's GPU feature discovery does it so."""
    node = nodes.render("a100-mig-single", "n")
    labels = node["metadata"]["labels"]
    assert node["status"]["allocatable"]["nvidia.com/gpu"] == labels["nvidia.com/gpu.count"] == "56"
    assert labels["nvidia.com/gpu.product"] == "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb"
    assert (labels["nvidia.com/mig.strategy"], labels["nvidia.com/gpu.memory"]) == ("single", "9728")
    assert not any(key.startswith("nvidia.com/mig-") for key in labels)


def test_a_clique_is_a_racks_not_a_models():
    """Machines that share it would look as one NVLink domain."""
    for name in nodes.profiles():
        assert nodes.CLIQUE not in nodes.profile(name).labels
    tray = nodes.render("gb200-nvl72", "n", rack="r1")["metadata"]["labels"]
    assert tray[nodes.CLIQUE] == nodes.clique("r1") != nodes.clique("r2")
    given = nodes.render("gb200-nvl72", "n", rack="r1", labels={nodes.CLIQUE: "own.0"})
    assert given["metadata"]["labels"][nodes.CLIQUE] == "own.0"


def test_a_grace_machine_is_an_arm_machine():
    """A profile's labels win over those that every machine gets."""
    assert nodes.render("gb200-nvl72", "tray-0")["metadata"]["labels"]["kubernetes.io/arch"] == "arm64"


@pytest.mark.parametrize("name", nodes.profiles())
def test_every_profile_renders_what_a_kubelet_reports(name):
    """InternalIP and Hostname, ephemeral-storage, and an allocatable that never exceeds the capacity."""
    node = nodes.render(name, "n1")
    status = node["status"]
    assert node["metadata"]["annotations"]["kwok.x-k8s.io/node"] == "fake"
    assert {address["type"]: address["address"] for address in status["addresses"]} == {
        "InternalIP": nodes.internal_ip("n1"),
        "Hostname": "n1",
    }
    assert status["allocatable"].keys() == status["capacity"].keys()
    assert {"cpu", "memory", "ephemeral-storage", "pods"} <= status["capacity"].keys()
    extended = {key: value for key, value in status["capacity"].items() if "/" in key}
    assert extended.items() <= status["allocatable"].items()


def test_an_h100_machine_carries_nvidias_discovery_labels():
    """What node selectors of GPU workloads ask for, agreeing with the resource."""
    node = nodes.render("h100x8", "gpu-0")
    labels = node["metadata"]["labels"]
    assert labels["nvidia.com/gpu.product"] == "NVIDIA-H100-80GB-HBM3"
    assert labels["nvidia.com/gpu.count"] == node["status"]["capacity"]["nvidia.com/gpu"] == "8"
    assert labels["nvidia.com/gpu.memory"] == "81559"
    assert labels["nvidia.com/cuda.driver.major"] == "570"
    assert labels["feature.node.kubernetes.io/pci-10de.present"] == "true"


def test_mig_slices_are_resources_and_their_labels_agree():
    """Strategy `mixed`: one resource per slice size, counted by discovery as the kubelet counts it."""
    node = nodes.render("a100-mig", "mig-0")
    slices = {
        key: value
        for key, value in node["status"]["allocatable"].items()
        if key.startswith("nvidia.com/mig-")
    }
    assert slices == {
        "nvidia.com/mig-1g.10gb": "16",
        "nvidia.com/mig-2g.20gb": "8",
        "nvidia.com/mig-3g.40gb": "8",
    }
    assert {key: node["metadata"]["labels"][f"{key}.count"] for key in slices} == slices
    assert node["status"]["allocatable"]["nvidia.com/gpu"] == "0"


def test_what_the_system_reserves_is_not_allocatable():
    """32 CPUs less 200m, 128Gi less 1Gi, in the largest unit that stays whole."""
    allocatable = nodes.render("cpu-32", "n")["status"]["allocatable"]
    assert (allocatable["cpu"], allocatable["memory"], allocatable["ephemeral-storage"]) == (
        "31800m",
        "127Gi",
        "180Gi",
    )
    assert allocatable["pods"] == "110"


def test_what_is_given_wins_over_the_profile():
    """Labels, capacity, taints; a given capacity is allocatable in full."""
    node = nodes.render(
        "cpu-32",
        "n",
        zone="z1",
        rack="r1",
        labels={"team": "a"},
        capacity={"cpu": "4", "example.com/fpga": "2"},
        taints=[{"key": "gpu", "effect": "NoSchedule"}],
        unschedulable=True,
    )
    assert (
        node["metadata"]["labels"].items()
        >= {
            "topology.kubernetes.io/zone": "z1",
            "topology.kubernetes.io/region": "lab",
            "topology.schedlab/rack": "r1",
            "kubernetes.io/hostname": "n",
            "team": "a",
        }.items()
    )
    assert node["status"]["allocatable"].items() >= {"cpu": "4", "example.com/fpga": "2"}.items()
    assert node["spec"]["taints"] == [{"key": "gpu", "effect": "NoSchedule"}]
    assert node["spec"]["unschedulable"] is True


def test_every_zone_gets_its_share_of_every_group():
    """Groups start again at the first zone; racks lie inside zones."""
    groups = [nodes.NodeGroup("h100x8", 4), nodes.NodeGroup("cpu-32", 2)]
    placed = {
        node["metadata"]["name"]: (
            node["metadata"]["labels"][nodes.ZONE],
            node["metadata"]["labels"][nodes.RACK],
        )
        for node in nodes.expand(groups, zones=2, racks=2)
    }
    assert placed == {
        "h100x8-0": ("zone-0", "zone-0-rack-0"),
        "h100x8-1": ("zone-1", "zone-1-rack-0"),
        "h100x8-2": ("zone-0", "zone-0-rack-1"),
        "h100x8-3": ("zone-1", "zone-1-rack-1"),
        "cpu-32-0": ("zone-0", "zone-0-rack-0"),
        "cpu-32-1": ("zone-1", "zone-1-rack-0"),
    }


def test_a_node_keeps_its_address():
    """The address depends on the name alone, and names rarely share one."""
    assert nodes.internal_ip("a") == nodes.internal_ip("a")
    assert len({nodes.internal_ip(f"node-{index}") for index in range(500)}) == 500


HEAD = "kind: NodeProfile\nmetadata: {name: x}\nspec: "
CAPACITY = "capacity: {cpu: '1', memory: 1Gi, pods: '1', ephemeral-storage: 1Gi}"


@pytest.mark.parametrize(
    ("document", "complaint"),
    [
        ("kind: Node", "kind is not NodeProfile"),
        ("kind: [", "cannot be read as YAML"),
        ("kind: NodeProfile", "metadata.name is missing"),
        (f"{HEAD}{{capacity: {{cpu: '1'}}}}", "spec.capacity.memory is missing"),
        (f"{HEAD}{{lables: {{}}}}", "spec.lables is unknown"),
        (f"{HEAD}{{nvlink: cable, {CAPACITY}}}", "spec.nvlink is 'cable'"),
        (f"{HEAD}{{labels: {{gpu: true}}, {CAPACITY}}}", "spec.labels.gpu is True, not a string"),
    ],
)
def test_a_malformed_profile_is_refused_with_file_and_field(tmp_path, document, complaint):
    """A profile of one's own is checked as ours are."""
    path = tmp_path / "mine.yaml"
    path.write_text(document)
    with pytest.raises(UsageError) as caught:
        nodes.profile(str(path))
    assert str(path) in caught.value.message
    assert complaint in caught.value.message


def test_the_table_of_profiles_is_fresh():
    """Else run `python -m schedlab.cluster.profile_table` and put it into docs/fleets.md."""
    page = (Path(__file__).parents[4] / "docs" / "fleets.md").read_text()
    table = page.split("<!-- profiles -->\n")[1].split("<!-- end of profiles -->")[0]
    assert table == profile_table.markdown()

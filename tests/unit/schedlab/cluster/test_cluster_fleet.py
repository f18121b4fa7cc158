"""One line makes a fleet: which machines in which places, and how often they are heard of."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from schedlab import data
from schedlab.cluster import fleet, nodes
from schedlab.errors import UsageError


def made(text: str) -> list[dict[str, Any]]:
    return list(fleet.machines(fleet.parse(text)))


def labels(text: str, key: str) -> list[str | None]:
    return [node["metadata"]["labels"].get(key) for node in made(text)]


def test_a_line_is_read_batch_by_batch() -> None:
    """The example of the documentation."""
    assert fleet.parse("4 racks x 18 gb200-nvl72, 200 h100x8 in 3 zones, 1000 cpu") == [
        fleet.Batch("gb200-nvl72", 72, racks=4, per_rack=18),
        fleet.Batch("h100x8", 200, zones=3),
        fleet.Batch("cpu-32", 1000),
    ]


def test_words_stand_in_the_singular_or_plural_and_places_in_any_order() -> None:
    """Nobody has to remember which."""
    assert fleet.parse("1 rack x 2 t4 in 1 zone") == [fleet.Batch("t4x1", 2, racks=1, per_rack=2)]
    assert fleet.parse("12 h100x8 in 6 racks and 3 islands and 1 zone") == [
        fleet.Batch("h100x8", 12, islands=3, racks=6)
    ]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "character 1: expected the number of machines or racks, not 'the end'"),
        ("h100x8", "character 1: expected the number of machines or racks, not 'h100x8'"),
        ("0 h100x8", "character 1: expected the number of machines or racks, not '0'"),
        ("3 h100y8", "character 3: there is no node profile 'h100y8'"),
        ("3", "character 2: expected a node profile, not 'the end'"),
        ("3 a100", "character 3: 'a100' may be a100-mig or a100-mig-single"),
        ("4 racks 18 cpu", "character 9: expected 'x' and the machines of a rack, not '18'"),
        ("4 racks x cpu", "character 11: expected the number of machines of a rack, not 'cpu'"),
        ("3 cpu on 2 zones", "character 7: expected a comma or the end, not 'on'"),
        ("3 cpu in zones", "character 10: expected the number of zones, islands or racks, not 'zones'"),
        ("3 cpu in 2 rooms", "character 12: expected zones, islands or racks, not 'rooms'"),
        ("3 cpu in 2 zones and 3 zones", "character 24: zones are given twice"),
        ("2 racks x 3 cpu in 4 racks", "character 22: racks are given twice"),
        ("9 cpu in 3 zones and 2 islands", "character 31: 2 islands cannot lie in 3 zones"),
        ("2 racks x 3 cpu in 3 zones", "character 27: 2 racks cannot lie in 3 zones"),
        ("1 cpu, ", "character 8: expected the number of machines or racks, not 'the end'"),
    ],
)
def test_a_mistake_is_told_with_its_place(text: str, complaint: str) -> None:
    """The character in the line, what was expected, and an example or the choice."""
    with pytest.raises(UsageError) as caught:
        fleet.parse(text)
    assert caught.value.message == f"fleet, {complaint}"
    assert caught.value.hint


def test_a_profile_of_ones_own_is_a_path() -> None:
    """Checked when the line is read."""
    with pytest.raises(UsageError, match=r"mine\.yaml: cannot be read"):
        fleet.parse("3 nowhere/mine.yaml")
    assert made(f"1 {data.path('manifests/nodes')}/l4x1.yaml")[0]["metadata"]["name"] == "l4x1-0"


def test_racks_are_filled_one_by_one_and_lie_in_zones_in_turn() -> None:
    """A rack is never split."""
    text = "4 racks x 3 gb200 in 2 zones"
    racks = [f"gb200-nvl72-rack-{rack}" for rack in range(4) for _ in range(3)]
    assert labels(text, nodes.RACK) == racks
    zones = [f"zone-{rack % 2}" for rack in range(4) for _ in range(3)]
    assert labels(text, nodes.ZONE) == zones


def test_an_nvlink_rack_is_a_domain_of_its_own() -> None:
    """As many cliques as racks, the same ones each time; machines with NVLink inside only have none."""
    cliques = labels("4 racks x 18 gb200", "nvidia.com/gpu.clique")
    assert list(Counter(cliques).values()) == [18, 18, 18, 18]
    assert cliques == labels("4 racks x 18 gb200", "nvidia.com/gpu.clique")
    assert set(labels("2 racks x 4 h100x8", "nvidia.com/gpu.clique")) == {None}


def test_machines_without_racks_go_to_zones_and_islands_in_turn() -> None:
    """Islands lie within zones."""
    text = "8 h100x8 in 2 zones and 4 islands"
    assert labels(text, nodes.ISLAND) == [f"h100x8-island-{index % 4}" for index in range(8)]
    assert labels(text, nodes.ZONE) == [f"zone-{index % 4 % 2}" for index in range(8)]
    assert set(labels("2 cpu", nodes.ISLAND)) == set(labels("2 cpu", nodes.RACK)) == {None}


def test_racks_that_are_only_counted_get_machines_in_turn() -> None:
    """`in 2 racks` says nothing about their size."""
    assert labels("5 t4 in 2 racks", nodes.RACK) == [f"t4x1-rack-{index % 2}" for index in range(5)]


def test_a_second_batch_of_a_profile_goes_on_counting() -> None:
    """Names, racks and islands are never used twice; zones are the cluster's."""
    text = "1 rack x 2 h100x8, 2 cpu, 2 racks x 1 h100x8 in 2 zones"
    names = [node["metadata"]["name"] for node in made(text)]
    assert names == ["h100x8-0", "h100x8-1", "cpu-32-0", "cpu-32-1", "h100x8-2", "h100x8-3"]
    assert labels(text, nodes.RACK)[-2:] == ["h100x8-rack-1", "h100x8-rack-2"]
    assert labels(text, nodes.ZONE)[-2:] == ["zone-0", "zone-1"]


def test_no_two_machines_of_a_large_fleet_share_a_name_or_an_address() -> None:
    """5,000 addresses by chance would."""
    items = made("20 racks x 18 gb200, 640 h100x8 in 3 zones, 4000 cpu")
    assert (
        len(items) == fleet.size(fleet.parse("20 racks x 18 gb200, 640 h100x8 in 3 zones, 4000 cpu")) == 5000
    )
    assert len({node["metadata"]["name"] for node in items}) == 5000
    assert len({node["status"]["addresses"][0]["address"] for node in items}) == 5000


@pytest.mark.parametrize(
    ("count", "lease", "grace"), [(0, "", ""), (400, "", ""), (401, "44", "55s"), (5000, "500", "625s")]
)
def test_heartbeats_of_large_fleets_are_slowed_down(count: int, lease: str, grace: str) -> None:
    """At most 40 renewals a second, and the controller waits longer in proportion."""
    slowed = fleet.heartbeats(count)
    assert slowed.kwok_flags.get("node-lease-duration-seconds", "") == lease
    assert slowed.controller_flags.get("node-monitor-grace-period", "") == slowed.grace == grace


def test_machines_of_a_fleet_have_reported_already() -> None:
    """Thousands of first reports would take kwok minutes, in which the controller finds nodes silent."""
    status = made("1 gb200")[0]["status"]
    assert {entry["type"]: entry["status"] for entry in status["conditions"]} == {
        "Ready": "True",
        "MemoryPressure": "False",
        "DiskPressure": "False",
        "PIDPressure": "False",
        "NetworkUnavailable": "False",
    }
    assert status["nodeInfo"]["architecture"] == "arm64"
    assert "conditions" not in nodes.render("cpu-32", "n")["status"]

"""Shrinking keeps the difference and drops everything else."""

from __future__ import annotations

import copy

from schedlab.fuzz.shrink import removable, shrink, without


def obj(name, **more):
    return {"kind": "Node", "metadata": {"name": name, "labels": {"a": "1", "b": "2"}}, "spec": more}


POD = {
    "kind": "Pod",
    "metadata": {"name": "p", "labels": {"app": "web"}},
    "spec": {"containers": [{"name": "c"}, {"name": "d"}], "tolerations": [{"key": "x"}, {"key": "y"}]},
}


async def test_only_what_the_difference_needs_remains():
    objects = [obj(f"n{n}", taints=[{"key": "k"}], unschedulable=True) for n in range(20)]

    async def shows(objects, pod):
        kept = {one["metadata"]["name"]: one for one in objects}
        return (
            "n3" in kept
            and "n17" in kept
            and bool(kept["n17"]["spec"].get("taints"))
            and any(one.get("key") == "y" for one in pod["spec"].get("tolerations", ()))
        )

    small = await shrink(objects, copy.deepcopy(POD), shows)
    assert small.objects == [
        {"kind": "Node", "metadata": {"name": "n3"}, "spec": {}},
        {"kind": "Node", "metadata": {"name": "n17"}, "spec": {"taints": [{}]}},
    ]
    assert small.pod == {
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c"}], "tolerations": [{"key": "y"}]},
    }
    assert small.attempts > 0


async def test_it_stops_after_so_many_attempts_with_what_it_has():
    asked = 0

    async def shows(objects, pod):
        nonlocal asked
        asked += 1
        return len(objects) >= 8

    small = await shrink([obj(f"n{n}") for n in range(64)], copy.deepcopy(POD), shows, attempts=5)
    assert asked == 5
    assert 8 <= len(small.objects) < 64


def test_parts_that_make_an_object_what_it_is_are_not_removable():
    paths = list(removable(POD))
    assert ("metadata", "labels") in paths
    assert ("spec", "containers", 1) in paths
    assert ("spec", "tolerations", 0) in paths
    assert not {
        ("kind",),
        ("metadata",),
        ("metadata", "name"),
        ("spec", "containers"),
        ("spec", "containers", 0),
    } & set(paths)


def test_outer_parts_come_before_inner_and_later_entries_before_earlier():
    paths = list(removable(POD))
    assert paths.index(("spec", "tolerations")) < paths.index(("spec", "tolerations", 1))
    assert paths.index(("spec", "tolerations", 1)) < paths.index(("spec", "tolerations", 0))


def test_taking_a_part_away_leaves_the_original_alone():
    assert without(POD, ("spec", "tolerations", 0))["spec"]["tolerations"] == [{"key": "y"}]
    assert len(POD["spec"]["tolerations"]) == 2
    assert without(POD, ("spec", "volumes", 0)) is None

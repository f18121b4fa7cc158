"""From bytes and dictionaries to objects."""

from __future__ import annotations

import datetime as dt
import json
import re

import msgspec
import pytest
from msgspec import inspect

from kubesched.api.base import timestamp
from kubesched.api.objects import KINDS, CSINode, Namespace, Node, Pod, StorageClass, convert, decode
from kubesched.testing.builders import node, pod

POD = {
    "kind": "Pod",
    "apiVersion": "v1",
    "metadata": {
        "name": "a",
        "namespace": "ns",
        "uid": "u1",
        "labels": {"app": "x"},
        "creationTimestamp": "2024-05-01T10:00:00Z",
        "managedFields": [{"manager": "x", "fieldsV1": {"f:spec": {}}}],
    },
    "spec": {
        "nodeName": "n1",
        "priority": 7,
        "containers": [{"name": "c", "image": "i", "ports": [{"hostIP": "1.2.3.4", "hostPort": 80}]}],
        "affinity": {
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {"topologyKey": "z", "labelSelector": {"matchLabels": {"app": "x"}}}
                ],
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 3, "podAffinityTerm": {"topologyKey": "y", "namespaceSelector": {}}}
                ],
            }
        },
        "volumes": [{"name": "v", "awsElasticBlockStore": {"volumeID": "vol"}}],
    },
    "status": {"phase": "Running", "startTime": "2024-05-01T10:00:05Z", "nominatedNodeName": "n2"},
}


def test_pod_is_decoded_from_api_json() -> None:
    """Only what a scheduler reads is kept; the rest is skipped."""
    made = decode("Pod", json.dumps(POD).encode())
    assert isinstance(made, Pod)
    assert (made.key, made.uid, made.name, made.namespace) == ("ns/a", "u1", "a", "ns")
    assert (made.priority, made.node_name, made.nominated_node_name) == (7, "n1", "n2")
    assert made.start_time == made.creation_time + 5 if made.creation_time else False
    assert made.host_ports == (("1.2.3.4", "TCP", 80),)
    assert made.spec.volumes[0].aws_elastic_block_store.volume_id == "vol"  # type: ignore[union-attr]
    anti = made.spec.affinity.pod_anti_affinity if made.spec.affinity else None
    assert anti is not None
    assert anti.required[0].topology_key == "z"
    assert anti.preferred[0].pod_affinity_term.namespace_selector is not None
    assert not made.is_terminating
    assert not made.is_terminal


def test_dictionary_and_bytes_make_the_same_pod() -> None:
    """`convert` is for YAML and explain's input, `decode` for the watch."""
    one, other = convert(POD), decode("Pod", json.dumps(POD).encode())
    assert msgspec.to_builtins(one) == msgspec.to_builtins(other)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_needs_no_more_than_a_name(kind: str) -> None:
    """A minimal object of each kind decodes, with its API's own kind and a key."""
    made = decode(kind, json.dumps({"kind": kind, "metadata": {"name": "x"}}).encode())
    assert (type(made), made.kind, made.name) == (KINDS[kind], kind, "x")
    assert made.key.endswith("x")


def test_null_is_an_absent_field() -> None:
    """Go writes null for empty lists without omitempty, as in CSINode.spec.drivers."""
    made = decode("CSINode", b'{"metadata":{"name":"n","labels":null},"spec":{"drivers":null}}')
    assert isinstance(made, CSINode)
    assert (made.spec.drivers, made.labels) == ((), {})
    made = convert(
        {"kind": "Pod", "metadata": {"name": "a"}, "spec": {"nodeName": None, "tolerations": None}}
    )
    assert isinstance(made, Pod)
    assert (made.node_name, made.spec.tolerations) == ("", ())


def _inside(kind: inspect.Type) -> list[inspect.Type]:
    """The types that a type is made of."""
    if isinstance(kind, inspect.StructType):
        return [field.type for field in kind.fields]
    if isinstance(kind, inspect.UnionType):
        return list(kind.types)
    if isinstance(kind, inspect.DictType):
        return [kind.value_type]
    return [kind.item_type] if isinstance(kind, inspect.VarTupleType | inspect.ListType) else []


def _may_be_null(kind: inspect.Type) -> bool:
    return isinstance(kind, inspect.AnyType) or (isinstance(kind, inspect.UnionType) and kind.includes_none)


def test_null_in_a_field_that_may_be_null_is_its_default() -> None:
    """So the typed decoder, which knows such nulls, reads the same as the slow way round."""
    waiting = [inspect.type_info(kind) for kind in KINDS.values()]
    seen: dict[type, inspect.StructType] = {}
    while waiting:
        kind = waiting.pop()
        if isinstance(kind, inspect.StructType) and kind.cls not in seen:
            seen[kind.cls] = kind
        elif isinstance(kind, inspect.StructType):
            continue
        assert not (isinstance(kind, inspect.DictType) and _may_be_null(kind.value_type))
        waiting += _inside(kind)
    nullable = [field for kind in seen.values() for field in kind.fields if _may_be_null(field.type)]
    assert len(nullable) > 50
    assert [field.name for field in nullable if field.default is not None] == []


def test_broken_json_names_the_kind_with_and_without_a_null() -> None:
    """The second reading says what is wrong, too."""
    for text in (b'{"metadata":', b'{"metadata":null,'):
        with pytest.raises(ValueError, match="Node: Input data was truncated"):
            decode("Node", text)
    with pytest.raises(ValueError, match=re.escape("Node 'a': Expected `bool`, got `str`")):
        decode("Node", b'{"metadata":{"name":"a","labels":null},"spec":{"unschedulable":"x"}}')


def test_yaml_dates_become_timestamps() -> None:
    """YAML reads an unquoted time as a date; without a zone it is UTC."""
    for moment in (dt.datetime(2024, 5, 1, 10, tzinfo=dt.UTC), dt.datetime(2024, 5, 1, 10)):  # noqa: DTZ001 - the case
        made = convert({"kind": "Namespace", "metadata": {"name": "a", "creationTimestamp": moment}})
        assert made.metadata.creation_timestamp == "2024-05-01T10:00:00Z"


def test_wrong_type_names_object_and_field() -> None:
    """A person finds the place."""
    with pytest.raises(
        ValueError, match=re.escape("Pod 'a': Expected `str`, got `int` - at `$.spec.nodeName`")
    ):
        convert({"kind": "Pod", "metadata": {"name": "a"}, "spec": {"nodeName": 5}})
    with pytest.raises(
        ValueError, match=re.escape("Node: Expected `bool`, got `str` - at `$.spec.unschedulable`")
    ):
        decode("Node", b'{"metadata":{"name":"n"},"spec":{"unschedulable":"yes"}}')
    with pytest.raises(ValueError, match="Node: JSON is malformed"):
        decode("Node", b'{"metadata":}')


@pytest.mark.parametrize("kind", ["Deployment", None])
def test_unknown_kind_is_named_with_the_known_ones(kind: str | None) -> None:
    """Nothing is skipped silently."""
    with pytest.raises(ValueError, match=f"{kind!r} is not a kind.*CSIDriver, .*VolumeAttachment"):
        convert({"kind": kind, "metadata": {"name": "a"}})
    with pytest.raises(ValueError, match="is not a kind"):
        decode(str(kind), b"{}")


def test_quantities_may_be_numbers() -> None:
    """YAML's `cpu: 2` and `cpu: 0.5` are quantities."""
    made = convert(
        {"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": 0.5, "pods": 10}}}
    )
    assert isinstance(made, Node)
    assert made.allocatable == {"cpu": 500, "pods": 10}


def test_objects_are_themselves() -> None:
    """Two versions of a pod are never equal, and a pod can be a key; they print as what they are."""
    one, other = decode("Pod", json.dumps(POD).encode()), decode("Pod", json.dumps(POD).encode())
    assert one != other
    assert len({one, other}) == 2
    assert repr(one) == "Pod(ns/a)"
    assert repr(decode("Node", b'{"metadata":{"name":"n"}}')) == "Node(n)"


def test_objects_cannot_be_changed() -> None:
    """The state shares them with every reader."""
    with pytest.raises(AttributeError, match="immutable"):
        pod("a").spec.node_name = "n"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        pytest.param("1970-01-01T00:01:00Z", 60.0, id="Zulu"),
        pytest.param("1970-01-01T01:01:00+01:00", 60.0, id="an offset"),
        pytest.param("1970-01-01T00:01:00.5Z", 60.5, id="a fraction"),
        pytest.param("1970-01-01T00:01:00.123456789Z", 60.123456, id="more digits than Python keeps"),
        pytest.param(None, None, id="no time"),
    ],
)
def test_timestamps_are_epoch_seconds(text: str | None, seconds: float | None) -> None:
    """RFC 3339, as the API writes it."""
    assert timestamp(text) == seconds


def test_bad_timestamp_is_named() -> None:
    """It is no RFC 3339 time."""
    with pytest.raises(ValueError, match="'yesterday' is not an RFC 3339 time"):
        timestamp("yesterday")


def test_uid_falls_back_to_the_key() -> None:
    """Files written by hand have no UIDs; the API always gives one."""
    assert convert({"kind": "Pod", "metadata": {"name": "a", "namespace": "b"}}).uid == "b/a"


@pytest.mark.parametrize(
    ("labels", "zone"),
    [
        pytest.param({}, "", id="no labels"),
        pytest.param({"topology.kubernetes.io/zone": "a"}, ":\0:a", id="a zone without a region"),
        pytest.param(
            {"topology.kubernetes.io/zone": "a", "topology.kubernetes.io/region": "r"}, "r:\0:a", id="both"
        ),
        pytest.param(
            {"topology.kubernetes.io/zone": "a", "failure-domain.beta.kubernetes.io/zone": ""},
            "",
            id="the beta label counts first even if empty",
        ),
    ],
)
def test_zone_of_a_node(labels: dict[str, str], zone: str) -> None:
    """As component-helpers' GetZoneKey."""
    made = convert({"kind": "Node", "metadata": {"name": "n", "labels": labels}})
    assert isinstance(made, Node)
    assert made.zone == zone


def test_small_claims_of_other_kinds() -> None:
    """What plugins ask of them most."""
    assert isinstance(
        made := convert({"kind": "StorageClass", "volumeBindingMode": "WaitForFirstConsumer"}), StorageClass
    )
    assert made.waits_for_consumer
    assert isinstance(convert({"kind": "Namespace"}), Namespace)
    assert node("n").cordoned().unschedulable
    assert pod("a").phase("Failed").is_terminal
    assert pod("a").terminating().is_terminating

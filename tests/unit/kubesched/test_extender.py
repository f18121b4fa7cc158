"""What is sent to an HTTP extender, and how its answers are read."""

from __future__ import annotations

import pytest
from aiohttp import web
from extender_world import service

from kubesched.api.objects import decode
from kubesched.api.original import keep
from kubesched.config.types import Extender, ExtenderManagedResource, ExtenderTLS, KubeSchedulerConfiguration
from kubesched.extender import HttpExtender, build_extenders
from kubesched.framework.extending import ExtenderError, VictimIds, Victims
from kubesched.testing.builders import node, pod

NODES = [node("n0"), node("n1")]


async def closed(extender, call):
    """The call's result; connections do not outlive it."""
    try:
        return await call
    finally:
        await extender.close()


async def test_an_extender_that_knows_nodes_gets_their_names():
    async with service(filter=lambda said: {"NodeNames": said["NodeNames"][1:]}) as ext:
        extender = ext.extender(node_cache_capable=True)
        answer = await closed(extender, extender.filter(pod("p"), NODES))
    assert list(answer.names) == ["n1"]
    [(_, said)] = ext.asked
    assert said["NodeNames"] == ["n0", "n1"]
    assert said["Nodes"] is None
    assert said["Pod"]["metadata"]["name"] == "p"


async def test_any_other_gets_whole_nodes_and_answers_with_them():
    """Also what a scheduler does not read itself, but not who wrote which field."""
    raw = b'{"metadata":{"name":"n0","managedFields":[{}]},"status":{"nodeInfo":{"osImage":"x"}}}'
    whole = decode("Node", raw)
    keep(whole, raw)
    async with service(filter=lambda said: {"Nodes": said["Nodes"]}) as ext:
        extender = ext.extender()
        answer = await closed(extender, extender.filter(pod("p"), [whole]))
    assert list(answer.names) == ["n0"]
    assert ext.asked[0][1]["Nodes"]["items"] == [
        {"metadata": {"name": "n0"}, "status": {"nodeInfo": {"osImage": "x"}}}
    ]
    assert ext.asked[0][1]["NodeNames"] is None


async def test_keys_match_whatever_their_case_and_names_of_nodes_do_not():
    answers = {"nodenames": ["n0"], "failedNodes": {"N1": "no licence"}, "ERROR": ""}
    async with service(filter=lambda _: answers) as ext:
        extender = ext.extender(node_cache_capable=True)
        answer = await closed(extender, extender.filter(pod("p"), NODES))
    assert answer.failed == {"N1": "no licence"}
    assert list(answer.names) == ["n0"]


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (lambda _: {"Error": "out of licences"}, "out of licences"),
        (lambda _: web.Response(status=503), "failed filter with extender at URL {url}/filter, code 503"),
        (lambda _: web.Response(status=204), "failed filter with extender at URL {url}/filter, code 204"),
        (lambda _: web.Response(text="sorry"), "{url}/filter: JSON is malformed"),
        (lambda _: {"NodeNames": [1]}, "{url}/filter: Expected `str`, got `int`"),
    ],
    ids=["its own error", "a refusal", "no content", "no JSON", "a wrong type"],
)
async def test_what_cannot_be_used_is_an_error(reply, message):
    async with service(filter=reply) as ext:
        extender = ext.extender(node_cache_capable=True)
        with pytest.raises(ExtenderError) as error:
            await closed(extender, extender.filter(pod("p"), NODES))
    assert str(error.value).startswith(message.format(url=ext.url))


async def test_nobody_there_and_nobody_in_time_read_as_in_go():
    extender = HttpExtender(Extender(url_prefix="http://127.0.0.1:1/", bind_verb="bind"))
    with pytest.raises(ExtenderError) as error:
        await closed(extender, extender.bind(pod("p"), "n0"))
    assert str(error.value) == (
        'Post "http://127.0.0.1:1/bind": dial tcp 127.0.0.1:1: connect: connection refused'
    )
    async with service(bind=lambda _: {}) as ext:
        extender = ext.extender(http_timeout=1e-9)
        with pytest.raises(ExtenderError, match="context deadline exceeded"):
            await closed(extender, extender.bind(pod("p"), "n0"))


async def test_victims_are_sent_as_uids_or_as_pods_and_come_back_as_uids():
    victims = {"n0": Victims([pod("low").with_uid("u1")], 1), "n1": Victims([pod("other").with_uid("u2")], 0)}

    def reply(said):
        return {"NodeNameToMetaVictims": {"n0": {"Pods": [{"UID": "u1"}], "NumPDBViolations": 1}, "n1": None}}

    async with service(preempt=reply) as ext:
        knowing, other = ext.extender(node_cache_capable=True), ext.extender()
        answer = await closed(knowing, knowing.preempt(pod("p"), victims))
        await closed(other, other.preempt(pod("p"), victims))
    assert answer == {"n0": VictimIds(["u1"], 1), "n1": VictimIds((), 0)}
    meta, whole = (said for _, said in ext.asked)
    assert meta["NodeNameToMetaVictims"]["n0"] == {"Pods": [{"UID": "u1"}], "NumPDBViolations": 1}
    assert meta["NodeNameToVictims"] is None
    assert whole["NodeNameToVictims"]["n1"]["Pods"][0]["metadata"]["name"] == "other"


async def test_a_binding_names_pod_and_node():
    async with service(bind=lambda _: {"error": "taken"}) as ext:
        extender = ext.extender()
        with pytest.raises(ExtenderError, match=r"^taken$"):
            await closed(extender, extender.bind(pod("p").with_uid("u"), "n0"))
    assert ext.asked == [
        ("bind", {"PodName": "p", "PodNamespace": "default", "PodUID": "u", "Node": "n0"}),
    ]


@pytest.mark.parametrize(
    ("asking", "interested"),
    [
        (pod("p").request("example.com/fpga", 1), True),
        (pod("p").init_container(**{"example.com/fpga": "1"}), True),
        (pod("p").gpu(1), False),
    ],
    ids=["a container asks", "an init container asks", "for something else"],
)
def test_an_extender_that_manages_resources_hears_of_pods_that_ask_for_them(asking, interested):
    managed = (ExtenderManagedResource(name="example.com/fpga"),)
    extender = HttpExtender(Extender(url_prefix="http://x", managed_resources=managed))
    assert extender.is_interested(asking) is interested
    assert HttpExtender(Extender(url_prefix="http://x")).is_interested(asking)


def test_extenders_that_may_fail_are_asked_last():
    config = KubeSchedulerConfiguration(
        extenders=(
            Extender(url_prefix="http://a", ignorable=True),
            Extender(url_prefix="http://b"),
            Extender(url_prefix="http://c"),
        )
    )
    assert [item.name for item in build_extenders(config)] == ["http://b", "http://c", "http://a"]


@pytest.mark.parametrize(
    ("tls", "message"),
    [
        (
            ExtenderTLS(insecure=True, ca_data=b"x"),
            "specifying a root certificates file with the insecure flag",
        ),
        (ExtenderTLS(cert_data=b"x"), "certFile or certData, and keyFile or keyData, go together"),
        (ExtenderTLS(ca_file="/nowhere/ca.crt"), "cannot load the certificates for https://x"),
    ],
    ids=["trust nobody and somebody", "a certificate without its key", "a file that is not there"],
)
def test_unusable_tls_is_a_start_up_error_that_names_the_extender(tls, message):
    config = KubeSchedulerConfiguration(
        extenders=(Extender(url_prefix="https://x", enable_https=True, tls_config=tls),)
    )
    with pytest.raises(ValueError, match=f"couldn't build extenders: https://x: {message}"):
        build_extenders(config)


async def test_an_extender_elsewhere_is_asked_through_the_proxy_of_the_environment(monkeypatch):
    async with service(bind=lambda _: {}) as ext:
        monkeypatch.setenv("HTTP_PROXY", ext.url)
        monkeypatch.delenv("NO_PROXY", raising=False)
        extender = HttpExtender(Extender(url_prefix="http://far.example.org", bind_verb="bind"))
        await closed(extender, extender.bind(pod("p"), "n"))
        assert [verb for verb, _ in ext.asked] == ["bind"]

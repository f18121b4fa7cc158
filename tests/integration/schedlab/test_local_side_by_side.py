"""Two control planes on one machine share nothing."""

import kubernetes
import pytest
import urllib3

from schedlab.cluster.state import Registry

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(180)]


def test_two_control_planes_never_mix(boot, api):
    """Ports, authorities, directories and objects are their own; the end of one does not touch the other."""
    planes = [boot(name="left"), boot(name="right")]
    ports = [set(plane.record.ports.values()) for plane in planes]
    assert ports[0].isdisjoint(ports[1])
    clients = [api(plane.kubeconfig()) for plane in planes]
    for client, plane in zip(clients, planes, strict=True):
        client.create_namespace({"metadata": {"name": f"only-{plane.name}"}})
    for client, plane in zip(clients, planes, strict=True):
        names = {one.metadata.name for one in client.list_namespace().items if "only" in one.metadata.name}
        assert names == {f"only-{plane.name}"}
    planes[0].down_now()
    assert [record.name for record in Registry().records()] == ["right"]
    assert clients[1].list_namespace().items


def test_a_kubeconfig_is_good_for_one_control_plane_only(boot, api):
    """Should an address ever be reused, the certificates do not match."""
    left, right = boot(name="left"), boot(name="right")
    client = api(left.kubeconfig())
    client.api_client.configuration.host = right.server
    with pytest.raises(urllib3.exceptions.MaxRetryError, match="certificate verify failed"):
        client.list_namespace(_request_timeout=5)
    assert isinstance(client, kubernetes.client.CoreV1Api)


def test_ports_for_schedulers_stay_reserved_until_the_end(boot):
    """Two control planes hand out ports in turn, and never one twice."""
    planes = [boot(name="left"), boot(name="right")]
    given = [plane.reserve_port() for _ in range(20) for plane in planes]
    given += [port for plane in planes for port in plane.record.ports.values()]
    assert len(set(given)) == len(given)

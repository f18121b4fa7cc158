"""Serves the extenders that a test declares, one port for HTTP and one for HTTPS per control plane.

Pods of the harness itself (probes) pass every extender, whatever the test wants of them: they show what the
scheduler has seen. Follows upstream `pkg/scheduler/extender.go` and `k8s.io/kube-scheduler/extender/v1`.
"""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aiohttp import web

from schedlab.api.client import Client
from schedlab.api.errors import ApiError
from schedlab.cluster.pki import CertificateAuthority, Credential, write_private
from schedlab.cluster.ports import HOST
from schedlab.runner.barrier import NAMESPACE as PROBES
from schedlab.suite.extenders import Bind, ExtenderNeeds, Filter, Labels, Preempt, Prioritize, Reply

_SERVER_NAME = "extender.schedlab"
_VERBS = ("filter", "prioritize", "preempt", "bind")
BOUND_BY = "schedlab/bound-by"


class Extenders:
    """The extenders of the test that runs on one control plane.

    One that gets only the names of nodes asks the API server for the rest each time: with a watch of its own
    it could know less than the scheduler that asks, which would not ask again about a pod it had refused.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._served: Sequence[ExtenderNeeds] = ()
        self._runner: web.AppRunner | None = None
        self._ports: dict[str, int] = {}
        self._authority = CertificateAuthority("schedlab extenders")
        self._stranger = CertificateAuthority("schedlab stranger")

    async def serve(self, wanted: Sequence[ExtenderNeeds]) -> list[dict[str, Any]]:
        """Answer as these from now on; their entries for the scheduler's configuration."""
        self._served = tuple(wanted)
        if wanted and self._runner is None:
            await self._start()
        return [self._entry(number, extender) for number, extender in enumerate(wanted)]

    async def close(self) -> None:
        """Close the ports."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    def _entry(self, number: int, extender: ExtenderNeeds) -> dict[str, Any]:
        scheme = "https" if extender.https else "http"
        entry: dict[str, Any] = {"urlPrefix": f"{scheme}://{HOST}:{self._ports[scheme]}/{number}"}
        entry |= {f"{verb}Verb": verb for verb in _VERBS if getattr(extender, verb) is not None}
        if extender.prioritize is not None:
            entry["weight"] = 1
        if extender.https:
            entry |= {"enableHTTPS": True, "tlsConfig": self._tls(extender.https)}
        return {**entry, **extender.config}

    def _tls(self, how: str) -> dict[str, Any]:
        if how == "insecure":
            return {"insecure": True}
        authority = self._stranger if how == "untrusted" else self._authority
        tls = {"caData": _base64(authority.certificate), "serverName": _SERVER_NAME}
        if how == "mutual":
            own = self._authority.client("scheduler")
            tls |= {"certData": _base64(own.certificate), "keyData": _base64(own.key)}
        return tls

    async def _start(self) -> None:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_post("/{number}/{verb}", self._handle)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        secure = await asyncio.to_thread(self._secure)
        for scheme, context in (("http", None), ("https", secure)):
            await web.TCPSite(self._runner, HOST, 0, ssl_context=context).start()
            self._ports[scheme] = self._runner.addresses[-1][1]

    def _secure(self) -> ssl.SSLContext:
        """Certificates of clients are looked at, but only `mutual` asks for one."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_verify_locations(cadata=self._authority.certificate.decode())
        context.verify_mode = ssl.CERT_OPTIONAL
        _load(context, self._authority.server([], [_SERVER_NAME]))
        return context

    async def _handle(self, request: web.Request) -> web.Response:
        number, verb = int(request.match_info["number"]), request.match_info["verb"]
        said = json.loads(await request.read())
        if number >= len(self._served) or getattr(self._served[number], verb, None) is None:
            raise web.HTTPNotFound
        extender = self._served[number]
        rule: Reply = getattr(extender, verb)
        peer = request.transport.get_extra_info("peercert") if request.transport else None
        if extender.https == "mutual" and not peer:
            raise web.HTTPUnauthorized
        if _is_probe(said):
            rule = type(rule)()
        if rule.silent:
            await asyncio.Event().wait()
        if rule.status != web.HTTPOk.status_code:
            return web.Response(status=rule.status)
        return web.json_response(await self._answer(rule, said))

    async def _answer(self, rule: Reply, said: dict[str, Any]) -> dict[str, Any] | list[dict[str, Any]]:
        match rule:
            case Filter():
                return await self._filter(rule, said)
            case Prioritize():
                return await self._prioritize(rule, said)
            case Preempt():
                return await self._preempt(rule, said)
            case Bind():
                return {"Error": rule.error or await self._bind(said)}
        raise TypeError(f"{type(rule).__name__} is no verb")

    async def _filter(self, rule: Filter, said: dict[str, Any]) -> dict[str, Any]:
        labels = await self._labels(said)
        refused = {
            key: {name: one.message for one in rules for name in labels if _carries(labels[name], one.labels)}
            for key, rules in (
                ("FailedNodes", rule.failed),
                ("FailedAndUnresolvableNodes", rule.failed_and_unresolvable),
            )
        }
        gone = {name for nodes in refused.values() for name in nodes}
        kept = [name for name in labels if name not in gone and _carries(labels[name], rule.keep)]
        answer: dict[str, Any] = {**refused, "Error": rule.error}
        if said["NodeNames"] is not None:
            return {**answer, "NodeNames": kept}
        items = [node for node in said["Nodes"]["items"] if node["metadata"]["name"] in kept]
        return {**answer, "Nodes": {"items": items}}

    async def _prioritize(self, rule: Prioritize, said: dict[str, Any]) -> list[dict[str, Any]]:
        return [
            {"Host": name, "Score": one.score}
            for name, labels in (await self._labels(said)).items()
            for one in rule.scores
            if _carries(labels, one.labels)
        ]

    async def _preempt(self, rule: Preempt, said: dict[str, Any]) -> dict[str, Any]:
        victims = said["NodeNameToMetaVictims"] or {
            name: {**found, "Pods": [{"UID": pod["metadata"]["uid"]} for pod in found["Pods"]]}
            for name, found in said["NodeNameToVictims"].items()
        }
        labels = await self._known()
        kept = {name: found for name, found in victims.items() if _carries(labels.get(name, {}), rule.keep)}
        for name in kept:
            if rule.no_victims and _carries(labels.get(name, {}), rule.no_victims):
                kept[name] = {"Pods": [], "NumPDBViolations": 0}
        return {"NodeNameToMetaVictims": kept}

    async def _bind(self, said: dict[str, Any]) -> str:
        """Bind the pod; what went wrong, or nothing."""
        name, namespace = said["PodName"], said["PodNamespace"]
        meta = {"name": name, "namespace": namespace, "uid": said["PodUID"]}
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {**meta, "annotations": {BOUND_BY: "extender"}},
            "target": {"kind": "Node", "name": said["Node"]},
        }
        try:
            await self._client.request(
                "POST", f"/api/v1/namespaces/{namespace}/pods/{name}/binding", body=body
            )
        except ApiError as error:
            return error.message
        return ""

    async def _labels(self, said: dict[str, Any]) -> dict[str, Labels]:
        """The labels of the nodes that were sent: as sent, or as stored where only names were."""
        if said["NodeNames"] is None:
            return {
                node["metadata"]["name"]: node["metadata"].get("labels") or {}
                for node in said["Nodes"]["items"] or ()
            }
        known = await self._known()
        return {name: known.get(name, {}) for name in said["NodeNames"]}

    async def _known(self) -> dict[str, Labels]:
        nodes = await self._client.request("GET", "/api/v1/nodes")
        return {node["metadata"]["name"]: node["metadata"].get("labels") or {} for node in nodes["items"]}


def _is_probe(said: dict[str, Any]) -> bool:
    namespace = said.get("PodNamespace") or said.get("Pod", {}).get("metadata", {}).get("namespace")
    return bool(namespace == PROBES)


def _carries(labels: Labels, wanted: Labels) -> bool:
    return wanted.items() <= labels.items()


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _load(context: ssl.SSLContext, credential: Credential) -> None:
    """Python loads certificates from files only: a private one that is gone at once."""
    with tempfile.TemporaryDirectory() as directory:
        file = write_private(Path(directory) / "pair.pem", credential.certificate + credential.key)
        context.load_cert_chain(file)

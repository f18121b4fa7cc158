"""An HTTP extender: a service outside the scheduler that filters, ranks, preempts or binds.

The protocol has Go's field names as keys; answers are read as Go reads them, without regard to case. Follows
`HTTPExtender` in `pkg/scheduler/extender.go` and `k8s.io/kube-scheduler/extender/v1` (1.36).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from kubesched.api.objects import Node, Pod
from kubesched.api.original import original
from kubesched.client.kubeconfig import Endpoint, Pem, environment_proxy
from kubesched.client.posting import Poster, PostError
from kubesched.client.tokens import StaticToken
from kubesched.config.extended import DEFAULT_TIMEOUT, concerns, ordered_extenders
from kubesched.config.types import Extender as ExtenderConfig
from kubesched.config.types import ExtenderTLS, KubeSchedulerConfiguration
from kubesched.extender_answers import (
    BindingResult,
    ExtenderPreemptionResult,
    FilterResult,
    HostPriority,
    read,
)
from kubesched.framework.extending import ExtenderError, Filtered, VictimIds, Victims

Answer = TypeVar("Answer")


def build_extenders(config: KubeSchedulerConfiguration) -> tuple[HttpExtender, ...]:
    """The configured extenders in the order in which they are asked. Raises ValueError, naming the one."""
    built = []
    for extender in ordered_extenders(config):
        try:
            built.append(HttpExtender(extender))
        except ValueError as error:
            raise ValueError(f"couldn't build extenders: {extender.url_prefix}: {error}") from error
    return tuple(built)


class HttpExtender:
    """One configured extender; it keeps the promises of `framework.extending.Extender`."""

    def __init__(self, config: ExtenderConfig) -> None:
        """Raises KubeconfigError for a TLS configuration that cannot be used."""
        self.name = config.url_prefix
        self.ignorable = config.ignorable
        self.weight = config.weight
        self.filters = bool(config.filter_verb)
        self.prioritizes = bool(config.prioritize_verb)
        self.preempts = bool(config.preempt_verb)
        self.binds = bool(config.bind_verb)
        self._config = config
        self._poster = Poster(_endpoint(config), seconds=config.http_timeout or DEFAULT_TIMEOUT)

    async def close(self) -> None:
        """Close every connection."""
        await self._poster.close()

    def is_interested(self, pod: Pod) -> bool:
        """Whether a container asks for, or is limited in, a resource that this extender manages."""
        return concerns(self._config, pod)

    async def filter(self, pod: Pod, nodes: Sequence[Node]) -> Filtered:
        """Send the nodes, or their names to an extender that knows nodes itself; read which of them stay."""
        result = await self._ask(self._config.filter_verb, self._arguments(pod, nodes), FilterResult)
        if result.error:
            raise ExtenderError(result.error)
        names: Sequence[str] = ()
        if self._config.node_cache_capable and result.node_names is not None:
            names = result.node_names
        elif result.nodes is not None:
            names = [node.metadata.name for node in result.nodes.items or ()]
        return Filtered(names, result.failed_nodes or {}, result.failed_and_unresolvable_nodes or {})

    async def prioritize(self, pod: Pod, nodes: Sequence[Node]) -> Sequence[tuple[str, int]]:
        """Read a score for each node."""
        verb, arguments = self._config.prioritize_verb, self._arguments(pod, nodes)
        given = await self._ask(verb, arguments, list[HostPriority])
        return [(item.host, item.score) for item in given]

    async def preempt(self, pod: Pod, victims: Mapping[str, Victims]) -> Mapping[str, VictimIds]:
        """Send the candidates, with whole pods or with UIDs only; UIDs come back in either case."""
        arguments: dict[str, object] = {
            "Pod": original(pod),
            "NodeNameToVictims": None,
            "NodeNameToMetaVictims": None,
        }
        known = self._config.node_cache_capable
        arguments["NodeNameToMetaVictims" if known else "NodeNameToVictims"] = {
            name: {
                "Pods": [{"UID": one.uid} if known else original(one) for one in found.pods],
                "NumPDBViolations": found.violations,
            }
            for name, found in victims.items()
        }
        result = await self._ask(self._config.preempt_verb, arguments, ExtenderPreemptionResult)
        return {
            name: VictimIds([one.uid for one in found.pods or ()], found.num_pdb_violations)
            if found is not None
            else VictimIds((), 0)
            for name, found in (result.node_name_to_meta_victims or {}).items()
        }

    async def bind(self, pod: Pod, node_name: str) -> None:
        """Ask it to bind the pod."""
        arguments = {
            "PodName": pod.name,
            "PodNamespace": pod.namespace,
            "PodUID": pod.uid,
            "Node": node_name,
        }
        result = await self._ask(self._config.bind_verb, arguments, BindingResult)
        if result.error:
            raise ExtenderError(result.error)

    def _arguments(self, pod: Pod, nodes: Sequence[Node]) -> dict[str, object]:
        if self._config.node_cache_capable:
            return {"Pod": original(pod), "Nodes": None, "NodeNames": [node.name for node in nodes]}
        items = [original(node) for node in nodes]
        return {"Pod": original(pod), "Nodes": {"metadata": {}, "items": items}, "NodeNames": None}

    async def _ask(self, verb: str, arguments: object, kind: type[Answer]) -> Answer:
        """Post to a verb and read the answer. Raises ExtenderError."""
        url = f"{self.name.rstrip('/')}/{verb}"
        try:
            body = await self._poster.post(url, msgspec.json.encode(arguments))
            return read(body, kind)
        except PostError as error:
            if error.status is None:
                raise ExtenderError(str(error)) from error
            raise ExtenderError(f"failed {verb} with extender at URL {url}, code {error.status}") from error
        except (msgspec.DecodeError, msgspec.ValidationError) as error:
            raise ExtenderError(f"{url}: {error}") from error


def _endpoint(config: ExtenderConfig) -> Endpoint:
    """Whom to trust and how to be known, as client-go reads a TLS configuration."""
    tls = config.tls_config or ExtenderTLS()
    ca, certificate = _pem(tls.ca_data, tls.ca_file), _pem(tls.cert_data, tls.cert_file)
    key = _pem(tls.key_data, tls.key_file)
    if ca and tls.insecure:
        raise ValueError("specifying a root certificates file with the insecure flag is not allowed")
    if bool(certificate) != bool(key):
        raise ValueError("certFile or certData, and keyFile or keyData, go together")
    return Endpoint(
        server=config.url_prefix,
        tokens=StaticToken(None),
        ca=ca,
        certificate=certificate,
        key=key,
        verify=not tls.insecure and (bool(ca) or not config.enable_https),
        server_name=tls.server_name,
        proxy=environment_proxy(config.url_prefix, os.environ),
    )


def _pem(data: bytes, file: str) -> Pem:
    return Pem(data=data) if data else Pem(Path(file) if file else None)

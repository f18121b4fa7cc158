"""All kubelets of a test: one per node, from the node's arrival to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from schedlab.api.client import ApiError, Client
from schedlab.api.objects import Object
from schedlab.errors import EnvironmentStartError
from schedlab.history.entries import Entry, Revision
from schedlab.history.history import History
from schedlab.kubelet.admission import mark_new_pods
from schedlab.kubelet.configuration import Configuration
from schedlab.kubelet.kubelet import Kubelet
from schedlab.kubelet.node_client import NodeClient, give_rights
from schedlab.kubelet.usage import Declared


class Kubelets:
    """What a test declares goes into `declared`; `close` tells whether a kubelet broke down."""

    def __init__(self, client: Client, history: History, settings: Configuration) -> None:
        self.declared = Declared()
        self._client = client
        self._history = history
        self._settings = settings
        self._kubelets: dict[str, Kubelet] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._broken: BaseException | None = None
        self._unsubscribe: Callable[[], None] = lambda: None

    async def start(self, namespace: str) -> None:
        """Begin to serve the nodes that there are and all that come; pods of the namespace await admission.

        Raises:
            EnvironmentStartError: the API server does not allow what kubelets need, or marks no pods.
        """
        try:
            await give_rights(self._client)
            await mark_new_pods(self._client, namespace)
        except ApiError as error:
            raise EnvironmentStartError(
                f"kubelets cannot be started: {error.message}", hint="they need kube-apiserver 1.36"
            ) from error
        self._unsubscribe = self._history.subscribe(self._heard)
        for item in (*self._history.current.list("Node"), *self._history.current.list("Pod")):
            self._changed(item)

    async def close(self) -> BaseException | None:
        """End all; what broke the first one that broke, if any did."""
        self._unsubscribe()
        for name in tuple(self._tasks):
            self._end(name)
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        return self._broken

    def _heard(self, entry: Entry) -> None:
        if not isinstance(entry, Revision) or entry.kind not in ("Node", "Pod"):
            return
        if entry.type != "DELETED":
            self._changed(entry.object)
        elif entry.kind == "Node":
            self._end(entry.ref.name)

    def _changed(self, item: Object) -> None:
        if item["kind"] == "Pod":
            kubelet = self._kubelets.get(str(item["spec"].get("nodeName")))
        else:
            kubelet = self._of(item["metadata"]["name"])
        if kubelet is not None:
            kubelet.heard(item)

    def _of(self, node: str) -> Kubelet:
        """The kubelet of a node; a new one for a new node."""
        if node not in self._kubelets:
            client = NodeClient(self._client, node)
            kubelet = Kubelet(client, self._history, self._settings, self.declared, node)
            self._kubelets[node] = kubelet
            task = asyncio.create_task(kubelet.run(), name=f"kubelet {node}")
            task.add_done_callback(self._finished)
            self._tasks[node] = task
            for pod in self._history.current.list("Pod"):
                if pod["spec"].get("nodeName") == node:
                    kubelet.heard(pod)
        return self._kubelets[node]

    def _end(self, node: str) -> None:
        if self._kubelets.pop(node, None) is not None:
            self._tasks[node].cancel()

    def _finished(self, task: asyncio.Task[None]) -> None:
        if task.cancelled() or self._broken is not None:
            return
        error = task.exception()
        self._broken = error.exceptions[0] if isinstance(error, BaseExceptionGroup) else error

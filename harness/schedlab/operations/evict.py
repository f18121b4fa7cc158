"""`evict`: pods are evicted through the API, or are refused to be."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta, Struct
from msgspec import field as struct_field

from schedlab.api.errors import ApiError
from schedlab.api.objects import Json, Object, Ref, ref_of
from schedlab.operations.base import Action, Env, Never, OperationError, Unmet
from schedlab.operations.selecting import PodLabels, PodName, PodNamespace, select, subject
from schedlab.suite.types import Natural, Positive

CREATED = 201


class Refusal(Struct, forbid_unknown_fields=True, rename="camel", frozen=True, kw_only=True):
    """What the server answers to an eviction that it does not allow; what is left out may be anything."""

    status: Annotated[
        int | None, Meta(description="429 for a budget, 500 for two, 409 for preconditions.")
    ] = None
    reason: Annotated[str | None, Meta(description="The Status' reason, such as TooManyRequests.")] = None
    message: Annotated[str | None, Meta(description="The Status' message, in full.")] = None
    cause: Annotated[
        str | None, Meta(description="The message of a cause in its details: what the budget lacks.")
    ] = None
    retry_after_seconds: Annotated[Natural | None, Meta(description="After how long to try again.")] = None

    def misfits(self, error: ApiError) -> list[str]:
        """What an answer says otherwise, in words."""
        details = error.details
        causes = [cause.get("message") for cause in details.get("causes") or []]
        said = {
            "status": (self.status, error.status),
            "reason": (self.reason, error.reason),
            "message": (self.message, error.text),
            "retryAfterSeconds": (self.retry_after_seconds, details.get("retryAfterSeconds", 0)),
        }
        wrong = [
            f"{k} {seen!r}, not {wanted!r}"
            for k, (wanted, seen) in said.items()
            if wanted not in (None, seen)
        ]
        if self.cause is not None and self.cause not in causes:
            wrong.append(f"causes {causes!r}, not {self.cause!r}")
        return wrong


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server said about one pod; no error: it was allowed."""

    pod: str
    error: ApiError | None

    def __str__(self) -> str:
        """The answer for people."""
        return f"{self.pod}: {CREATED if self.error is None else self.error.message}"


class Evict(Action):
    """Ask the API server to evict pods, and judge its answers.

    All are to be allowed; with `refusal` all are to be refused in that way; with `allowed` as many as it says
    are to be allowed and the others refused. An answer that is not as expected fails the test. `parallel`
    requests are under way at once. That a pod goes is another matter, see `evicted`. `as` binds a list of
    `{pod, status}`.

    ```yaml
    - evict: {pod: web-0}
    - evict: {selector: {app: web}, parallel: 5, allowed: 1, refusal: {status: 429}}
    - evict:
        pod: web-0
        refusal:
          status: 429
          reason: TooManyRequests
          message: Cannot evict pod as it would violate the pod's disruption budget.
          cause: The disruption budget web needs 2 healthy pods and has 2 currently
    - evict: {pod: web-0, dryRun: true, preconditions: {uid: ($old.metadata.uid)}, refusal: {status: 409}}
    ```
    """

    tag: ClassVar[str] = "evict"
    judges: ClassVar[bool] = True

    pod: PodName = None
    selector: PodLabels = None
    namespace: PodNamespace = None
    api_version: Annotated[
        Literal["policy/v1", "policy/v1beta1"], Meta(description="The version of the Eviction.")
    ] = "policy/v1"
    dry_run: Annotated[bool, Meta(description="Ask only what would happen.")] = False
    grace_period_seconds: Annotated[
        Natural | None, Meta(description="How long the pods may take to end, instead of their own.")
    ] = None
    preconditions: Annotated[
        dict[str, Any], Meta(description="`{uid: …, resourceVersion: …}` that the pod must have.")
    ] = struct_field(default_factory=dict)
    parallel: Annotated[Positive, Meta(description="How many requests are under way at once.")] = 1
    allowed: Annotated[
        Natural | None,
        Meta(description="How many are to be allowed; by default all, or none with `refusal`."),
    ] = None
    refusal: Annotated[Refusal | None, Meta(description="The answer to those that are not allowed.")] = None

    async def run(self, env: Env, seconds: float) -> Json:
        """Send the requests, then look at the answers.

        Raises:
            Unmet: they are not as expected.
            OperationError: they do not come in time.
        """
        free = asyncio.Semaphore(self.parallel)
        try:
            async with asyncio.timeout(seconds):
                answers = await asyncio.gather(*(self._ask(env, ref, free) for ref in self._refs(env)))
        except TimeoutError as error:
            raise OperationError(f"evict: not all was answered within {seconds:g} s") from error
        self._judge(answers)
        return [{"pod": a.pod, "status": a.error.status if a.error else CREATED} for a in answers]

    def _refs(self, env: Env) -> Sequence[Ref]:
        """The pods; one that is named need not exist."""
        if self.pod is not None and self.selector is None:
            return [Ref("Pod", self.pod, self.namespace or env.scope.namespace)]
        found = select(env.history, env.scope, self.pod, self.selector, self.namespace)
        if not found:
            raise Unmet(Never(f"{subject(self.pod, self.selector)} to evict", "there is none"))
        return [ref_of(pod) for pod in found]

    async def _ask(self, env: Env, ref: Ref, free: asyncio.Semaphore) -> Answer:
        async with free:
            try:
                await env.writer.evict(ref, self._eviction(ref), dry_run=self.dry_run)
            except ApiError as error:
                return Answer(ref.name, error)
            return Answer(ref.name, None)

    def _eviction(self, ref: Ref) -> Object:
        options: Object = {"preconditions": self.preconditions} if self.preconditions else {}
        if self.grace_period_seconds is not None:
            options["gracePeriodSeconds"] = self.grace_period_seconds
        return {
            "apiVersion": self.api_version,
            "kind": "Eviction",
            "metadata": {"name": ref.name, "namespace": ref.namespace},
            **({"deleteOptions": options} if options else {}),
        }

    def _judge(self, answers: Sequence[Answer]) -> None:
        wanted = self.allowed
        if wanted is None:
            wanted = len(answers) if self.refusal is None else 0
        allowed = sum(answer.error is None for answer in answers)
        expected = f"{wanted} of {len(answers)} evictions allowed"
        if allowed != wanted:
            raise Unmet(Never(expected, "; ".join(map(str, answers))))
        for answer in answers:
            if answer.error is not None and self.refusal is not None:
                wrong = self.refusal.misfits(answer.error)
                if wrong:
                    raise Unmet(Never(f"the eviction of {answer.pod} to be refused so", "; ".join(wrong)))

"""`fault`: something goes wrong between the scheduler and the API server."""

from __future__ import annotations

from typing import Annotated, ClassVar, TypeAlias

from msgspec import Meta
from msgspec import field as struct_field

from schedlab import timing
from schedlab.api.objects import Json
from schedlab.faults.rules import Effect, Fault
from schedlab.operations.base import Action, Env, OperationError
from schedlab.suite.types import Duration, Natural, Positive

RefusalStatus: TypeAlias = Annotated[int, Meta(ge=400, le=599)]


class FaultOperation(Action):
    """Let requests of the scheduler under test go wrong, from now on until the fault is ended.

    The test has to say `spec.scheduler.proxy: true`, so that each scheduler process reaches the API server
    through a proxy of its own. Without `processes`, `verbs` or `resources` every request is befallen. Verbs
    are those of RBAC (`get`, `list`, `watch`, `create`, `update`, `patch`, `delete`); a subresource is part
    of the resource, such as `pods/binding`. Give one of `answer`, `cut`, `hang` and `lose`, or `delay`
    alone or with them. The first fault that matches decides. `as` binds the fault's name, for `end`.

    ```yaml
    - fault: {cut: true, processes: [($first.process)], as: away}    # the API server is away for one replica
    - fault: {verbs: [update], resources: [leases], answer: 500}       # renewing fails, reading works
    - fault: {resources: [pods/binding], lose: true, times: 1}         # bound, but the answer is lost
    - fault: {resources: [pods/binding], answer: 429, retryAfter: 1, skip: 2, times: 3}
    - fault: {end: ($away)}
    - fault: {clear: true}
    ```
    """

    tag: ClassVar[str] = "fault"

    processes: Annotated[
        list[str], Meta(description="Names from `scheduler` or `leader`, instead of all.")
    ] = struct_field(default_factory=list)
    verbs: Annotated[list[str], Meta(description="Instead of all verbs.")] = struct_field(
        default_factory=list
    )
    resources: Annotated[list[str], Meta(description="Instead of all resources.")] = struct_field(
        default_factory=list
    )
    delay: Annotated[Duration | None, Meta(description="How long the request is held back first.")] = None
    answer: Annotated[
        RefusalStatus | None, Meta(description="The status that comes instead of the server's answer.")
    ] = None
    retry_after: Annotated[
        Natural | None, Meta(description="With `answer`: its Retry-After, in seconds.")
    ] = None
    cut: Annotated[bool, Meta(description="The connection is reset; open ones that match, too.")] = False
    hang: Annotated[
        bool, Meta(description="Nothing comes back, the connection stays open; watches fall silent, too.")
    ] = False
    lose: Annotated[
        bool, Meta(description="The server does what is asked; its answer is lost with the connection.")
    ] = False
    skip: Annotated[Natural, Meta(description="So many matching requests pass first.")] = 0
    times: Annotated[Positive | None, Meta(description="So many are befallen, instead of all.")] = None
    end: Annotated[str | None, Meta(description="End this fault, instead of beginning one.")] = None
    clear: Annotated[bool, Meta(description="End all faults, instead of beginning one.")] = False

    async def run(self, env: Env, seconds: float) -> Json:  # noqa: ARG002 - takes no time
        """Begin a fault, or end one or all."""
        if self.clear or self.end is not None:
            env.faults.end(self.end)
            return None
        chosen = [self.answer is not None, self.cut, self.hang, self.lose]
        if sum(chosen) > 1 or not (any(chosen) or self.delay):
            raise OperationError(
                "give one of `answer`, `cut`, `hang` and `lose`, or `delay`", hint="or `end` or `clear`"
            )
        effect = Effect(
            delay=timing.parse_duration(self.delay) if self.delay else 0.0,
            answer=self.answer,
            retry_after=self.retry_after,
            cut=self.cut,
            hang=self.hang,
            lose=self.lose,
        )
        return env.faults.begin(
            Fault(
                effect=effect,
                verbs=self.verbs,
                resources=self.resources,
                processes=self.processes,
                skip=self.skip,
                times=self.times,
            )
        )

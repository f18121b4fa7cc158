"""`fault`: something goes wrong between the scheduler and the API server."""

from __future__ import annotations

from typing import Annotated, ClassVar, TypeAlias

from msgspec import Meta, Struct
from msgspec import field as struct_field

from schedlab import timing
from schedlab.api.objects import Json
from schedlab.faults.rules import Effect, Fault, Stream
from schedlab.operations.base import Action, Env, OperationError
from schedlab.suite.types import Duration, Natural, Positive

RefusalStatus: TypeAlias = Annotated[int, Meta(ge=400, le=599)]
Chance: TypeAlias = Annotated[float, Meta(gt=0, le=1)]


class StreamFault(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """What happens to events of watches that are under way: one of these."""

    duplicate: Annotated[bool, Meta(description="Each comes twice.")] = False
    reorder: Annotated[bool, Meta(description="Each second one comes before the first.")] = False
    slice: Annotated[Natural, Meta(description="Each comes in pieces of so many bytes.")] = 0
    stall: Annotated[bool, Meta(description="None comes before the fault ends; then all do.")] = False
    tear: Annotated[bool, Meta(description="The connection breaks in the middle of one.")] = False
    error: Annotated[
        RefusalStatus | None, Meta(description="The watch ends with an ERROR event of this status.")
    ] = None

    def effect(self) -> Stream:
        """What the proxy is told.

        Raises:
            OperationError: there is not exactly one.
        """
        chosen = [field for field in self.__struct_fields__ if getattr(self, field) not in (False, 0, None)]
        if len(chosen) != 1:
            raise OperationError(f"stream: give one of {', '.join(self.__struct_fields__)}")
        return Stream(**{chosen[0]: getattr(self, chosen[0])})


class FaultOperation(Action):
    """Let requests of the scheduler under test go wrong, from now on until the fault is ended.

    The test has to say `spec.scheduler.proxy: true`, so that each scheduler process reaches the API server
    through a proxy of its own. Without `processes`, `verbs` or `resources` every request is befallen. Verbs
    are those of RBAC (`get`, `list`, `watch`, `create`, `update`, `patch`, `delete`); a subresource is part
    of the resource, such as `pods/binding`. Give one of `answer`, `cut`, `hang` and `lose`, or `delay`
    alone or with them; or `stream` for the events of watches, open ones, too. The first fault that matches
    decides. `as` binds the fault's name, for `end`.

    ```yaml
    - fault: {cut: true, processes: [($first.process)], as: away}    # the API server is away for one replica
    - fault: {verbs: [update], resources: [leases], answer: 500}       # renewing fails, reading works
    - fault: {resources: [pods/binding], lose: true, times: 1}         # bound, but the answer is lost
    - fault: {resources: [pods/binding], answer: 429, retryAfter: 1, skip: 2, times: 3}
    - fault: {resources: [nodes], stream: {error: 410}, times: 1}      # the watch of nodes has expired
    - fault: {verbs: [patch], answer: 503, chance: 0.3, seed: 7}       # three of ten, always the same
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
    stream: Annotated[
        StreamFault | None, Meta(description="Befalls events of watches instead of requests.")
    ] = None
    skip: Annotated[Natural, Meta(description="So many matching requests, or events, pass first.")] = 0
    times: Annotated[Positive | None, Meta(description="So many are befallen, instead of all.")] = None
    chance: Annotated[Chance, Meta(description="The probability with which each of them is.")] = 1.0
    seed: Annotated[Natural, Meta(description="Decides which ones, the same each time.")] = 0
    end: Annotated[str | None, Meta(description="End this fault, instead of beginning one.")] = None
    clear: Annotated[bool, Meta(description="End all faults, instead of beginning one.")] = False

    async def run(self, env: Env, seconds: float) -> Json:  # noqa: ARG002 - takes no time
        """Begin a fault, or end one or all."""
        if self.clear or self.end is not None:
            env.faults.end(self.end)
            return None
        chosen = [self.answer is not None, self.cut, self.hang, self.lose, self.stream is not None]
        if sum(chosen) > 1 or not (any(chosen) or self.delay):
            raise OperationError(
                "give one of `answer`, `cut`, `hang`, `lose` and `stream`, or `delay`",
                hint="or `end` or `clear`",
            )
        if self.stream is not None and self.delay:
            raise OperationError("events of a watch have no `delay`", hint="`stall` them, and end the fault")
        effect = Effect(
            delay=timing.parse_duration(self.delay) if self.delay else 0.0,
            answer=self.answer,
            retry_after=self.retry_after,
            cut=self.cut,
            hang=self.hang,
            lose=self.lose,
            stream=self.stream.effect() if self.stream is not None else None,
        )
        return env.faults.begin(
            Fault(
                effect=effect,
                verbs=self.verbs,
                resources=self.resources,
                processes=self.processes,
                skip=self.skip,
                times=self.times,
                chance=self.chance,
                seed=self.seed,
            )
        )

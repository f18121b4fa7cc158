"""What an operation is: an action does something once, an assertion waits until something is true.

An assertion is a pure function of the history: it is asked again with every new revision, never on a timer.
`within` and `holds` are not its business; whoever runs it handles them, once, for all (`evaluate`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from signal import Signals
from typing import Annotated, Any, ClassVar, Literal, Protocol, TypeAlias

from msgspec import Meta, Struct
from msgspec import field as struct_field

from schedlab.api.objects import Json, Object, Ref
from schedlab.errors import SchedlabError
from schedlab.faults.rules import Fault
from schedlab.history.history import History
from schedlab.kubelet.usage import Declared
from schedlab.suite.types import BindingName, Duration

TimeoutKind = Literal["apply", "assert", "error", "delete", "nodes", "exec", "cleanup"]

Labels: TypeAlias = dict[str, str]


@dataclass(frozen=True, slots=True)
class Met:
    """It is true; `seen` says in what way."""

    seen: str = ""
    objects: tuple[Ref, ...] = ()
    value: Json = None
    """What `as` binds, for assertions that have it."""


@dataclass(frozen=True, slots=True)
class NotYet:
    """It is not true now. `seen` is what is, `since` when that began, `objects` whom it is about."""

    expected: str
    seen: str
    since: datetime | None = None
    objects: tuple[Ref, ...] = ()


@dataclass(frozen=True, slots=True)
class Never:
    """It is not true and cannot become true any more, so nobody needs to wait."""

    expected: str
    seen: str
    since: datetime | None = None
    objects: tuple[Ref, ...] = ()


Outcome: TypeAlias = Met | NotYet | Never


class OperationError(SchedlabError):
    """An operation could not do what it was asked to; not a verdict on the scheduler by itself."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What an assertion may know besides the history: the test's namespace and the documents of its files."""

    namespace: str
    bindings: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, Sequence[Object]] = field(default_factory=dict)


class Writer(Protocol):
    """Writes to the API server; what is created is remembered and undone at the end of the test.

    A write returns once the history holds it, so an assertion that follows reads its own writes.
    """

    async def create(self, item: Object) -> Object:
        """Create an object; in the test's namespace, unless it names one or has none."""
        ...

    async def apply(self, item: Object) -> Object:
        """Create an object or change it (server-side apply)."""
        ...

    async def patch(self, item: Object, content_type: str, subresource: str = "") -> Object:
        """Patch the object that `item` names with what `item` says."""
        ...

    async def delete(
        self, ref: Ref, api_version: str, grace: int | None = None, policy: str | None = None
    ) -> None:
        """Delete an object; returns once the server has accepted that. No such object is no error."""
        ...

    async def evict(self, ref: Ref, eviction: Object, *, dry_run: bool = False) -> None:
        """Ask for the eviction of a pod; returns once the server has allowed it.

        Raises:
            ApiError: it is refused.
        """
        ...

    async def include(self, api_version: str, kind: str) -> str:
        """Have a kind in the history from now on; returns its key."""
        ...


class Replicas(Protocol):
    """The processes of the scheduler under test."""

    async def scale(self, count: int, program: str | None) -> list[str]:
        """Start replicas until `count` live, of another scheduler if `program` names one; all that live."""
        ...

    async def restart(self, name: str) -> str:
        """Start another process in the place of one that has ended; returns its name."""
        ...

    def signal(self, name: str, number: Signals) -> None:
        """Send a signal to a process."""
        ...


class Faults(Protocol):
    """What stands between the scheduler under test and the API server."""

    def begin(self, fault: Fault) -> str:
        """Put a fault in force; returns its name."""
        ...

    def end(self, name: str | None) -> None:
        """End one fault, or all."""
        ...


class Commands(Protocol):
    """Runs of kubectl against the control plane of the test, each under a name."""

    def start(self, args: Sequence[str]) -> str:
        """Start one with these arguments; returns its name. It ends with the test at the latest."""
        ...

    async def finished(self, name: str, seconds: float) -> tuple[int | None, str]:
        """The exit code, None if it still runs after so many seconds, and what it has printed.

        Raises:
            OperationError: no run has that name.
        """
        ...


@dataclass(frozen=True, slots=True)
class Finished:
    """A program that has ended."""

    stdout: str
    stderr: str
    code: int


class Programs(Protocol):
    """Programs that a test runs, if it is allowed to."""

    async def run(self, argv: Sequence[str], env: Mapping[str, str], seconds: float) -> Finished:
        """What came of a program.

        Raises:
            OperationError: it is not allowed, cannot be started, or took too long.
        """
        ...


class Env(Protocol):
    """What an action works with."""

    @property
    def scope(self) -> Scope:
        """The test's namespace, bindings and files."""
        ...

    @property
    def history(self) -> History:
        """What has happened."""
        ...

    @property
    def writer(self) -> Writer:
        """Writes, remembered."""
        ...

    @property
    def replicas(self) -> Replicas:
        """The processes of the scheduler under test."""
        ...

    @property
    def faults(self) -> Faults:
        """What stands between the scheduler under test and the API server."""
        ...

    @property
    def usage(self) -> Declared:
        """What pods and machines use, as declared.

        Raises:
            OperationError: no kubelet looks at it.
        """
        ...

    @property
    def kubectl(self) -> Commands:
        """Runs of kubectl."""
        ...

    @property
    def programs(self) -> Programs:
        """Programs, if they are allowed."""
        ...

    def scheduler_log(self) -> list[str]:
        """What the scheduler under test has printed, in lines."""
        ...

    async def until(self, check: Check, seconds: float) -> None:
        """Wait until `check` is Met.

        Raises:
            Unmet: it cannot be any more, or was not in time.
        """
        ...

    async def scheduler_has_seen(self, node: str, seconds: float) -> None:
        """Wait until the scheduler under test has seen every earlier write of nodes and assigned pods."""
        ...

    async def explain(self, pod: Ref) -> str:
        """What the scheduler under test itself says about a pod; empty if it cannot be asked."""
        ...

    def note(self, text: str) -> None:
        """Show a text in the report of the test."""
        ...


class Check(Protocol):
    """A question to the history."""

    def __call__(self, history: History) -> Outcome:
        """The answer now."""
        ...


class Operation(Struct, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """One entry of a step. `tag` is its key in the file."""

    tag: ClassVar[str]
    timeout_kind: ClassVar[TimeoutKind] = "apply"
    judges: ClassVar[bool] = False
    """What it waits for in vain says something about the scheduler under test."""


class Action(Operation):
    """Does something; may leave a value under a name."""

    as_: Annotated[
        BindingName | None,
        Meta(description="The name under which the result is bound for all later operations."),
    ] = struct_field(default=None, name="as")
    timeout: Annotated[
        Duration | None, Meta(description="How long it may take, instead of the step's timeout.")
    ] = None

    @abstractmethod
    async def run(self, env: Env, seconds: float) -> Json:
        """Do it within `seconds`; the result is what `as` binds.

        Raises:
            SchedlabError: it cannot be done.
        """
        raise NotImplementedError


class Assertion(Operation):
    """Asks something of the history."""

    timeout_kind: ClassVar[TimeoutKind] = "assert"
    judges: ClassVar[bool] = True

    within: Annotated[
        Duration | None, Meta(description="By when it must have become true, instead of the step's timeout.")
    ] = None
    holds: Annotated[
        Duration | None,
        Meta(description="How long it must then stay true; each revision in that time is judged."),
    ] = None

    @abstractmethod
    def check(self, history: History, scope: Scope) -> Outcome:
        """The answer now: pure, so it can be repeated on a recorded history."""
        raise NotImplementedError

    def kinds(self, scope: Scope) -> Sequence[tuple[str, str]]:  # noqa: ARG002 - for those whose files name kinds
        """The (apiVersion, kind) that it reads beyond those every history holds."""
        return ()


class Unmet(SchedlabError):  # noqa: N818 - an outcome, told apart from errors on purpose
    """An assertion failed: what was expected, what was seen and since when."""

    def __init__(self, outcome: NotYet | Never, *, broke: bool = False, waited: float = 0.0) -> None:
        super().__init__(f"expected {outcome.expected}; seen: {outcome.seen}")
        self.outcome = outcome
        self.broke = broke
        """It was true and did not stay so."""
        self.waited = waited

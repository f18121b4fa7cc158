"""`expect`: what a write must come to, a refusal included; Chainsaw's word for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, TypeAlias

from msgspec import Meta, Struct

from schedlab.api.errors import ApiError
from schedlab.api.objects import Object, ref_of
from schedlab.operations.base import Never, Scope, Unmet
from schedlab.operations.matching import matches, mismatches
from schedlab.suite.check import VARIABLES
from schedlab.suite.trees import SUBJECT


class Expectation(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """What must come of the writes of some objects."""

    match: Annotated[
        dict[str, Any] | None, Meta(description="An assertion tree: which objects this is about. All.")
    ] = None
    check: Annotated[
        dict[str, Any],
        Meta(description="An assertion tree about the answer; `$error` is the refusal, or null."),
    ]


Expect: TypeAlias = Annotated[
    list[Expectation],
    Meta(
        description="What must come of it: `[{check: {($error != null): true}}]`; by default no error.",
        extra={VARIABLES: tuple(SUBJECT)},
    ),
]


async def expected(
    write: Callable[[Object], Awaitable[Object]], item: Object, expect: Sequence[Expectation], scope: Scope
) -> Object:
    """The answer to a write, or the object itself where a refusal was expected.

    Raises:
        ApiError: it was refused, and nothing was said about that.
        Unmet: it came to something else than was expected.
    """
    error: ApiError | None = None
    answer = item
    try:
        answer = await write(item)
    except ApiError as refusal:
        error = refusal
    told = [one for one in expect if one.match is None or matches(one.match, item, bindings=scope.bindings)]
    if error is not None and not told:
        raise error
    bindings = {**scope.bindings, "error": error.message if error is not None else None}
    for one in told:
        lacking = list(mismatches(one.check, answer, bindings=bindings))
        if lacking:
            came = f"refused: {error.message}" if error is not None else "accepted"
            shown = "; ".join(str(mismatch) for mismatch in lacking[:5])
            raise Unmet(Never(f"the write of {ref_of(item)} to be as expected", f"it was {came}; {shown}"))
    return answer

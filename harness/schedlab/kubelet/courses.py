"""How an amount changes over time: a constant, a ramp, a leak, or a series of steps."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from msgspec import Meta, Struct, field

from schedlab import timing
from schedlab.errors import UsageError
from schedlab.kubelet.quantities import parse
from schedlab.suite.types import Duration


class Course(Struct, forbid_unknown_fields=True, rename="camel", frozen=True, kw_only=True):
    """An amount that changes: `to` and `over`, or `perSecond`, or `series`."""

    from_: Annotated[int | str, Meta(description="At the beginning.")] = field(default=0, name="from")
    to: Annotated[int | str | None, Meta(description="A ramp: at the end, and from then on.")] = None
    over: Annotated[Duration | None, Meta(description="How long the ramp takes.")] = None
    per_second: Annotated[int | str | None, Meta(description="A leak: so much more in each second.")] = None
    series: Annotated[
        dict[str, int | str] | None,
        Meta(description="Steps: the amount from each time on, such as `{0s: 1Gi, 5s: 3Gi}`."),
    ] = None

    def at(self, seconds: float) -> int:
        """The amount so long after the beginning.

        Raises:
            UsageError: it is not said how it changes, or in several ways at once.
        """
        ways = (self.to is not None or self.over is not None, self.per_second is not None, self.series)
        if sum(map(bool, ways)) != 1 or (self.to is None) != (self.over is None):
            raise UsageError(
                "an amount changes in one way", hint="say `to` and `over`, or `perSecond`, or `series`"
            )
        if self.series is not None:
            begun = [(timing.parse_duration(time), value) for time, value in self.series.items()]
            now = [(time, value) for time, value in begun if time <= seconds]
            return _number(max(now, key=lambda step: step[0])[1]) if now else _number(self.from_)
        start = _number(self.from_)
        if self.per_second is not None:
            return start + int(_number(self.per_second) * seconds)
        length = timing.parse_duration(self.over or "0")
        share = min(seconds / length, 1.0) if length else 1.0
        return start + int((_number(self.to or 0) - start) * share)


Amount: TypeAlias = int | str | Course


def amount_at(amount: Amount, seconds: float) -> int:
    """How much it is so long after the beginning.

    Raises:
        UsageError: it is no quantity, or a course that says too little or too much.
    """
    return amount.at(seconds) if isinstance(amount, Course) else _number(amount)


def _number(value: int | str) -> int:
    try:
        return parse(str(value)).value
    except ValueError as error:
        raise UsageError(str(error), hint="write 100Mi, 1Gi, 5000") from error

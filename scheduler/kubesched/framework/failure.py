"""The one exception of the runtime: a plugin broke its contract or raised."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class PluginError(RuntimeError):
    """A plugin failed; the attempt ends with reason SchedulerError and the pod is retried soon.

    The text is upstream's, for example `running PreFilter plugin "X": …`.
    """


def guard(text: str, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """The call's result; an exception of the plugin becomes a PluginError that starts with `text`."""
    try:
        return call(*args, **kwargs)
    except Exception as error:
        raise PluginError(f"{text}: {error}") from error


async def guard_async(text: str, work: Awaitable[T]) -> T:
    """What the work ends with; an exception of the plugin becomes a PluginError that starts with `text`."""
    try:
        return await work
    except Exception as error:
        raise PluginError(f"{text}: {error}") from error

"""A plugin is made from a class or a function, and its arguments are of the type that this one asks for.

A class says by the names of its constructor's parameters what it wants: `args`, `handle`, both or neither. A
function is always called with (args, handle). In both, the annotation of `args` is the type that
`pluginConfig` is decoded into, so it is written once; without a type of ours the arguments come as the plain
mapping of the file, or None. Upstream's counterparts are `runtime.PluginFactory` and `runtime.DecodeInto`.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable
from typing import Any, TypeAlias, cast

from kubesched.config.args import PluginArgs
from kubesched.framework.handle import Factory, Handle
from kubesched.framework.interface import Plugin
from kubesched.framework.registration import RegistrationError

Maker: TypeAlias = type[Plugin] | Factory

_OFFERED = ("args", "handle")
_PLAIN = (object, dict, Any, inspect.Parameter.empty)


def args_type(name: str, maker: object) -> type[PluginArgs] | None:
    """What the plugin's arguments are decoded into; None: they stay the file's plain mapping.

    Raises RegistrationError for something that makes no plugins, and for arguments of another type.
    """
    parameters = _parameters(name, maker)
    if "args" not in parameters:
        return None
    asked = _annotation(name, maker, "args")
    if isinstance(asked, type) and issubclass(asked, PluginArgs) and asked is not PluginArgs:
        return asked
    if asked in _PLAIN or typing.get_origin(asked) is not None:
        return None
    raise RegistrationError(
        f'plugin "{name}": its `args` are annotated as {_shown(asked)}; arguments are a subclass of '
        "kubesched.framework.PluginArgs, or unannotated to get the plain mapping"
    )


def make(name: str, maker: object, args: object, handle: Handle) -> Plugin:
    """The plugin, built with its arguments; those it has defaults for need not be given.

    Raises RegistrationError for what makes no plugins, and ValueError for arguments that it cannot take.
    """
    kind = args_type(name, maker)
    parameters = _parameters(name, maker)
    if args is not None and "args" not in parameters:
        raise ValueError("it takes no arguments: remove its args from pluginConfig")
    if kind is not None:
        args = _checked(kind, args)
    if not isinstance(maker, type):
        return cast("Plugin", cast("Callable[..., object]", maker)(args, handle))
    offered = {"args": args, "handle": handle}
    return cast("Plugin", maker(**{key: offered[key] for key in parameters if key in offered}))


def _checked(kind: type[PluginArgs], args: object) -> PluginArgs:
    if args is None:
        try:
            return kind()
        except TypeError as error:
            raise ValueError(f"it needs arguments in pluginConfig: {error}") from error
    if not isinstance(args, kind):
        raise ValueError(  # noqa: TRY004 - a value of the configuration, reported with its plugin
            f"its arguments are {kind.__name__}, not {type(args).__name__}"
        )
    return args


def _parameters(name: str, maker: object) -> list[str]:
    """The names of what the maker takes, after checking that it can be called as plugins are made."""
    if not isinstance(maker, type):
        if not callable(maker):
            raise RegistrationError(
                f'plugin "{name}": {_shown(maker)} is neither a plugin class nor a function of (args, handle)'
            )
        signature = inspect.signature(maker)
        try:
            signature.bind(None, None)
        except TypeError as error:
            raise RegistrationError(
                f'plugin "{name}": {_shown(maker)} must take (args, handle): {error}'
            ) from None
        return list(_OFFERED)
    wanted = inspect.signature(maker).parameters
    strange = [
        key
        for key, parameter in wanted.items()
        if key not in _OFFERED
        and parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    if strange:
        raise RegistrationError(
            f'plugin "{name}": the constructor of {maker.__name__} is given args and handle, by these '
            f"names; nobody could give it {', '.join(strange)}"
        )
    return [key for key in _OFFERED if key in wanted]


def _annotation(name: str, maker: object, parameter: str) -> object:
    """The resolved annotation; of a function, that of its first parameter."""
    function: Any = maker.__init__ if isinstance(maker, type) else maker  # type: ignore[misc]
    if not isinstance(maker, type):
        if not isinstance(function, types.FunctionType | types.MethodType):
            return inspect.Parameter.empty
        parameter = next(iter(inspect.signature(function).parameters))
    try:
        hints = typing.get_type_hints(function)
    except NameError as error:
        raise RegistrationError(
            f'plugin "{name}": the annotation of `{parameter}` cannot be resolved at run time: {error}; '
            "import it outside of `if TYPE_CHECKING`"
        ) from None
    return hints.get(parameter, inspect.Parameter.empty)


def _shown(value: object) -> str:
    return getattr(value, "__qualname__", None) or repr(value)

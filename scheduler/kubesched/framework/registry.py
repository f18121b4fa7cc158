"""Plugin names and what builds them: the in-tree registry, and plugins of other packages by entry point.

A plugin of another package is imported when a configuration names it, so one that is broken harms nobody who
does not use it. Upstream's counterpart is `runtime.Registry` (framework/runtime/registry.go).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points

from kubesched.config.args import ARGS, PluginArgs
from kubesched.framework.construction import args_type, make
from kubesched.framework.handle import Factory, Handle
from kubesched.framework.interface import Plugin
from kubesched.framework.registration import RegistrationError

ENTRY_POINT_GROUP = "kubesched.plugins"


class UnknownPluginError(ValueError):
    """A profile names a plugin that nobody provides."""


class PluginImportError(ValueError):
    """A plugin of an installed package cannot be imported; the message says which, whose, and why."""


class OutOfTree:
    """One plugin of an installed package, and the factory that builds it."""

    def __init__(self, point: EntryPoint) -> None:
        self.name = point.name
        self._point = point

    @property
    def origin(self) -> str:
        """Where it comes from: `module:object of distribution version`."""
        dist = self._point.dist
        return f"{self._point.value} of {f'{dist.name} {dist.version}' if dist else 'an unknown package'}"

    @cached_property
    def _maker(self) -> object:
        try:
            return self._point.load()
        except Exception as error:
            raise PluginImportError(
                f'plugin "{self.name}" ({self.origin}) cannot be imported: {type(error).__name__}: {error}'
            ) from error

    def args_type(self) -> type[PluginArgs] | None:
        """What its arguments are decoded into; raises PluginImportError and RegistrationError."""
        return args_type(self.name, self._maker)

    def __call__(self, args: object, handle: Handle) -> Plugin:
        """Build the plugin; raises PluginImportError, RegistrationError, and ValueError for its arguments."""
        maker = self._maker
        try:
            plugin = make(self.name, maker, args, handle)
        except ValueError:
            raise
        except Exception as error:
            raise ValueError(f"{self.origin} failed: {type(error).__name__}: {error}") from error
        name = getattr(plugin, "name", None)
        if isinstance(name, str) and name and name != self.name:
            raise RegistrationError(
                f'plugin "{self.name}" ({self.origin}) calls itself "{name}": '
                "the entry point and the class attribute `name` must say the same"
            )
        return plugin


@dataclass(frozen=True, slots=True)
class Registry:
    """What can be built: factories by name, and upstream's plugins that are known but not built."""

    factories: Mapping[str, Factory]
    not_built: frozenset[str] = field(default_factory=frozenset)

    @property
    def names(self) -> frozenset[str]:
        """The names that a configuration may use."""
        return self.not_built.union(self.factories)

    def args_type(self, name: str) -> type[PluginArgs] | None:
        """What a plugin's arguments are decoded into; None: the plain mapping. Raises as OutOfTree does."""
        factory = self.factories.get(name)
        return factory.args_type() if isinstance(factory, OutOfTree) else ARGS.get(name)


def out_of_tree() -> dict[str, Factory]:
    """The plugins that installed packages offer in the entry-point group `kubesched.plugins`.

    An entry point's name is the plugin's name; its object is a plugin class, or a function of (args, handle).
    Raises ValueError when two packages offer the same name.
    """
    found: dict[str, Factory] = {}
    for point in entry_points(group=ENTRY_POINT_GROUP):
        offer, other = OutOfTree(point), found.get(point.name)
        if isinstance(other, OutOfTree):
            if other.origin != offer.origin:
                raise ValueError(
                    f'two packages offer a plugin named "{point.name}": {other.origin}, and {offer.origin}; '
                    "uninstall one"
                )
            continue
        found[point.name] = offer
    return found


def merge(in_tree: Mapping[str, Factory], others: Mapping[str, Factory]) -> dict[str, Factory]:
    """Both registries as one; raises ValueError when a name is taken."""
    if taken := sorted(in_tree.keys() & others.keys()):
        offer = others[taken[0]]
        whose = f" ({offer.origin})" if isinstance(offer, OutOfTree) else ""
        raise ValueError(f"a plugin named {taken[0]} already exists in-tree: rename the other one{whose}")
    return {**in_tree, **others}


def unknown(name: str, known: Iterable[str], *, where: str, not_built: frozenset[str]) -> UnknownPluginError:
    """The error for a name that is not in the registry, with the way out."""
    if name in not_built:
        return UnknownPluginError(
            f'{where}: plugin "{name}" exists in kube-scheduler but is not built into kubesched yet; '
            "disable it, or run this profile with kube-scheduler"
        )
    near = difflib.get_close_matches(name, sorted(known), n=1)
    hint = f'; did you mean "{near[0]}"?' if near else ""
    return UnknownPluginError(f'{where}: plugin "{name}" does not exist{hint}')

"""Command line flags that behave as kube-scheduler's: Go's pflag, in the parts that a user can see.

`--name=value`, `--name value`, `--bool`, `--bool=false`, `-v4`, `-v=4`, `--a_b` for `--a-b`; the last of a
repeated flag wins, lists grow. Errors read as pflag's do. Light on purpose: `--help` must not wait for
imports.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kubesched.config.flag_kinds import Kind, Value


class FlagError(ValueError):
    """The command line cannot be understood."""


class HelpRequestedError(Exception):
    """`--help` was given."""


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag. `inert` says why it changes nothing here although kube-scheduler has it."""

    name: str
    kind: Kind
    default: Value
    help: str
    short: str = ""
    inert: str = ""

    @property
    def spelled(self) -> str:
        """As errors name the flag."""
        return f"-{self.short}, --{self.name}" if self.short else f"--{self.name}"


@dataclass(slots=True)
class Flags:
    """What a command line said. `changed` are the flags that were given; others hold their default."""

    values: dict[str, Value]
    changed: set[str] = field(default_factory=set)

    def text(self, name: str) -> str:
        """A string flag."""
        return str(self.values[name])

    def number(self, name: str) -> float:
        """A number, or a duration in seconds."""
        value = self.values[name]
        if isinstance(value, str | tuple):
            raise TypeError(f"--{name} is no number")
        return value

    def on(self, name: str) -> bool:
        """A boolean flag."""
        return bool(self.values[name])

    def items(self, name: str) -> tuple[str, ...]:
        """A list flag."""
        value = self.values[name]
        return value if isinstance(value, tuple) else ()


def parse(arguments: Sequence[str], known: Iterable[Flag]) -> Flags:
    """Read a command line. Raises FlagError, or HelpRequestedError at `--help` or `-h`."""
    by_name = {flag.name: flag for flag in known}
    by_short = {flag.short: flag for flag in by_name.values() if flag.short}
    flags = Flags({flag.name: flag.default for flag in by_name.values()})
    rest = list(arguments)
    positional: list[str] = []
    while rest:
        argument = rest.pop(0)
        if argument == "--":
            positional += rest
            break
        if argument.startswith("--"):
            _long(argument, rest, by_name, flags)
        elif argument.startswith("-") and argument != "-":
            _short(argument, rest, by_short, flags)
        else:
            positional.append(argument)
    if any(positional):
        listed = " ".join(f'"{item}"' for item in positional)
        raise FlagError(f'"kubesched" does not take any arguments, got [{listed}]')
    return flags


def _long(argument: str, rest: list[str], known: Mapping[str, Flag], flags: Flags) -> None:
    name, separator, value = argument[2:].partition("=")
    name = name.replace("_", "-")
    if not name or name.startswith("-"):
        raise FlagError(f"bad flag syntax: {argument}")
    if name == "help":
        raise HelpRequestedError
    flag = known.get(name)
    if flag is None:
        raise FlagError(f"unknown flag: --{name}")
    if not separator:
        if flag.kind.bare is not None:
            value = flag.kind.bare
        elif rest:
            value = rest.pop(0)
        else:
            raise FlagError(f"flag needs an argument: --{name}")
    _set(flag, value, flags)


def _short(argument: str, rest: list[str], known: Mapping[str, Flag], flags: Flags) -> None:
    letter, value = argument[1], argument[2:]
    if letter == "h":
        raise HelpRequestedError
    flag = known.get(letter)
    if flag is None:
        raise FlagError(f"unknown shorthand flag: '{letter}' in {argument}")
    if not value:
        if not rest:
            raise FlagError(f"flag needs an argument: '{letter}' in {argument}")
        value = rest.pop(0)
    _set(flag, value.removeprefix("="), flags)


def _set(flag: Flag, text: str, flags: Flags) -> None:
    try:
        value = flag.kind.read(text)
    except ValueError as error:
        raise FlagError(f'invalid argument "{text}" for "{flag.spelled}" flag: {error}') from error
    if flag.kind.grows and isinstance(value, tuple) and flag.name in flags.changed:
        value = flags.items(flag.name) + value
    flags.values[flag.name] = value
    flags.changed.add(flag.name)

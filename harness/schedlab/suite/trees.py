"""Assertion trees: partial objects whose keys may be expressions, as in Chainsaw.

`(size(object.spec.containers)): 3` compares what an expression says of the object at that place, `~.field`
asks each element, `->name` gives a value a name for everything below. Chainsaw's words, with CEL inside the
parentheses: `object` is the value that the key stands in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from schedlab.api.objects import Json
from schedlab.suite.expressions import compiled, is_expression

SUBJECT = frozenset({"object"})
"""What an expression in a key can read besides bindings."""

_KEY = re.compile(
    r"(?P<each>~(?P<index>[A-Za-z_]\w*)?\.)?(?P<what>.+?)(?:\s*->\s*(?P<name>[A-Za-z_]\w*))?", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Key:
    """A key of an assertion tree: `~index.what->name`, of which only `what` must be there."""

    what: str
    """A field's name, or an expression with its parentheses."""
    computed: bool = False
    """`what` is an expression."""
    each: bool = False
    index: str = ""
    name: str = ""


def parse(key: str) -> Key:
    """A key as it is meant; one that starts with a backslash is a field's name, whatever it looks like."""
    if key.startswith("\\"):
        return Key(key[1:])
    match = _KEY.fullmatch(key)
    if match is None:
        return Key(key)
    return Key(
        match["what"],
        computed=is_expression(match["what"]),
        each=bool(match["each"]),
        index=match["index"] or "",
        name=match["name"] or "",
    )


def computed_keys(node: yaml.Node) -> Iterator[tuple[yaml.Node, str]]:
    """The expressions in the keys below a node, each with the node of its key."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if (parsed := parse(str(key.value))).computed:
                yield key, parsed.what
            yield from computed_keys(value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from computed_keys(item)


def read_by(tree: Json) -> set[str]:
    """The names of the bindings that a tree reads and does not bind itself."""
    if isinstance(tree, dict):
        return set[str]().union(*(_read_below(parse(key), value) for key, value in tree.items()))
    if isinstance(tree, list):
        return set[str]().union(*(read_by(item) for item in tree))
    return set(compiled(tree).names) if is_expression(tree) else set()


def _read_below(key: Key, value: Json) -> set[str]:
    here = set(compiled(key.what, SUBJECT).names) if key.computed else set[str]()
    return here | (read_by(value) - {key.index, key.name})

"""YAML as Go's library writes it: double quotes around a text that would be read as something else.

Follows the encoder of `sigs.k8s.io/yaml`; what only YAML's syntax keeps from being plain gets single quotes
in both languages.
"""

from __future__ import annotations

import re

import yaml

# Besides what PyYAML itself reads as another type, Go's resolver knows these.
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|0o[0-7]+")
_WORDS = frozenset({"y", "Y", "n", "N"})
_TEXT, _INDICATOR = "tag:yaml.org,2002:str", "tag:yaml.org,2002:yaml"


class GoDumper(yaml.SafeDumper):
    """Writes plain data; use it with sorted keys."""


def _text(dumper: GoDumper, text: str) -> yaml.ScalarNode:
    tag = dumper.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
    means_more = tag not in {_TEXT, _INDICATOR}
    quoted = means_more or text in _WORDS or _NUMBER.fullmatch(text) is not None
    style = "|" if "\n" in text else '"' if quoted else None
    return dumper.represent_scalar(_TEXT, text, style=style)


GoDumper.add_representer(str, _text)

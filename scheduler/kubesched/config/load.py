"""Reads a configuration file strictly and writes one back.

Everything wrong with a file is reported at once, each with line, column, field and a suggestion; nothing is
ignored. Upstream decodes as strictly (`cmd/kube-scheduler/app/options/configfile.go`), without places.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any, cast

import yaml

from kubesched.config.args import ARGS, ArgsType
from kubesched.config.codec import Decoder, encode
from kubesched.config.defaults import IN_TREE, complete
from kubesched.config.gates import FeatureGates
from kubesched.config.go_yaml import GoDumper
from kubesched.config.problems import ConfigError, Problem
from kubesched.config.types import API_VERSION, KubeSchedulerConfiguration
from kubesched.config.validation import validate, validate_plugin_names

_LARGEST = 3 * 1024 * 1024


def load(
    path: Path | str,
    *,
    gates: FeatureGates | None = None,
    plugins: Collection[str] = IN_TREE,
    args_type: ArgsType = ARGS.get,
) -> KubeSchedulerConfiguration:
    """The completed, validated configuration of a file. Raises ConfigError, or OSError when unreadable.

    `plugins` are the names that may be used: the in-tree ones and those that are installed; `args_type` tells
    what their arguments are decoded into.
    """
    path = Path(path)
    with path.open("rb") as file:
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise ConfigError(str(path), [Problem("", f"larger than {_LARGEST} bytes")])
    return loads(data, source=str(path), gates=gates, plugins=plugins, args_type=args_type)


def loads(
    data: bytes | str,
    *,
    source: str = "<config>",
    gates: FeatureGates | None = None,
    plugins: Collection[str] = IN_TREE,
    args_type: ArgsType = ARGS.get,
) -> KubeSchedulerConfiguration:
    """As `load`, from text; `source` is what errors call it."""
    gates = gates or FeatureGates()
    decoder = Decoder(API_VERSION, args_type)
    node = _compose(data, source)
    _check_type_meta(node, source)
    decoded = decoder.decode(node, KubeSchedulerConfiguration, "")
    if not isinstance(decoded, KubeSchedulerConfiguration):
        raise ConfigError(source, decoder.problems)
    completed = complete(decoded, gates)
    for field, message in (*validate_plugin_names(decoded, plugins), *validate(completed, gates)):
        decoder.problem(field, message)
    if decoder.problems:
        raise ConfigError(source, decoder.problems)
    return completed


def revalidate(config: KubeSchedulerConfiguration, gates: FeatureGates, source: str) -> None:
    """Check a configuration again after flags changed it. Raises ConfigError, without lines."""
    problems = [Problem(field, message) for field, message in validate(config, gates)]
    if problems:
        raise ConfigError(source, problems)


def dump(config: KubeSchedulerConfiguration) -> dict[str, Any]:
    """The configuration as plain data, as `/configz` serves it and `--write-config-to` writes it."""
    return cast("dict[str, Any]", encode(config, KubeSchedulerConfiguration, API_VERSION))


def dumps(config: KubeSchedulerConfiguration) -> str:
    """The configuration as YAML with sorted keys, to the byte as kube-scheduler writes it."""
    return yaml.dump(dump(config), Dumper=GoDumper, sort_keys=True, default_flow_style=False)


def _compose(data: bytes | str, source: str) -> yaml.Node:
    try:
        documents = list(yaml.compose_all(data, Loader=yaml.SafeLoader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
        raise ConfigError(source, [Problem("", error.problem or "not YAML", line, column)]) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(source, [Problem("", f"not YAML: {error}")]) from error
    for other in documents[1:]:
        if not isinstance(other, yaml.ScalarNode) or other.value:
            mark = other.start_mark
            message = "a second document: put each configuration into a file of its own"
            raise ConfigError(source, [Problem("", message, mark.line + 1, mark.column + 1)])
    node = documents[0] if documents else None
    if not isinstance(node, yaml.MappingNode):
        raise ConfigError(source, [Problem("", "expected a KubeSchedulerConfiguration, found no mapping")])
    return node


def _check_type_meta(node: yaml.Node, source: str) -> None:
    """Both apiVersion and kind are required: they say what the rest of the file means."""
    found = {key.value: value for key, value in node.value}
    expected = {"apiVersion": API_VERSION, "kind": KubeSchedulerConfiguration.kind}
    for key, value in expected.items():
        if key not in found:
            message = f'Required value: "{key}: {value}" says what the file is'
            raise ConfigError(source, [Problem(key, message, 1, 1)])
        if found[key].value != value:
            mark = found[key].start_mark
            message = f'no kind is registered for "{found[key].value}": this scheduler reads {value}'
            raise ConfigError(source, [Problem(key, message, mark.line + 1, mark.column + 1)])

"""`kubesched explain`: why a pod goes where it goes, or nowhere; of a cluster, files or JSON lines."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import click
import msgspec

from kubesched.api.objects import Object, Pod
from kubesched.config import gates as feature_gates
from kubesched.config.defaults import default_configuration
from kubesched.config.load import load
from kubesched.config.problems import ConfigError
from kubesched.explain import files, live
from kubesched.explain.explanation import Explanation
from kubesched.explain.jsonl import InputError, answers
from kubesched.explain.session import Answerer
from kubesched.explain.table import table
from kubesched.plugins.registry import registry


@click.command()
@click.option(
    "--state",
    metavar="FILE|DIR|-",
    default="-",
    show_default=True,
    help="Where the objects are; - is standard input.",
)
@click.option(
    "--kubeconfig",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="Ask this running cluster instead of files.",
)
@click.option(
    "--context", metavar="NAME", default="", help="A context of the kubeconfig, if not the current one."
)
@click.option("--pod", "name", metavar="NS/NAME", help="The pod to explain; the only waiting one by default.")
@click.option(
    "--config",
    "config_file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="A KubeSchedulerConfiguration; the default profile if not given.",
)
@click.option(
    "--feature-gates", "gates", metavar="A=true,B=false", multiple=True, help="As kube-scheduler's flag."
)
@click.option(
    "--input-format",
    type=click.Choice(["objects", "jsonl"]),
    default="objects",
    show_default=True,
    help="jsonl: one state and pod per line, one answer per line.",
)
@click.option(
    "-o", "--output", type=click.Choice(["table", "json"]), help="Default: table, and json for jsonl input."
)
def explain(
    *,
    state: str,
    kubeconfig: str | None,
    context: str,
    name: str | None,
    config_file: str | None,
    gates: tuple[str, ...],
    input_format: str,
    output: str | None,
) -> None:
    """Explain where a pod would be placed, on all nodes, and why not elsewhere."""
    try:
        chosen = feature_gates.parse(gates)
        known = registry()
        config = (
            load(config_file, gates=chosen, plugins=known.names, args_type=known.args_type)
            if config_file
            else default_configuration(chosen)
        )
        if input_format == "jsonl":
            with _opened(state) as lines:
                for answer in answers(lines, Answerer(config, chosen), Answerer(config, chosen)):
                    _print(answer, output or "json")
            return
        answerer = Answerer(config, chosen)
        for obj in _objects(state, kubeconfig, context):
            answerer.feed.add(obj)
        _print(answerer.answer(_pick(answerer, name)), output or "table")
    except (InputError, ConfigError, feature_gates.FeatureGateError, ValueError) as error:
        raise click.ClickException(str(error)) from error


def _objects(state: str, kubeconfig: str | None, context: str) -> Iterable[Object]:
    if kubeconfig is None:
        return files.read(state)
    if state != "-":
        raise InputError("--state and --kubeconfig are two sources: name one")
    return live.read(kubeconfig, context)


def _opened(state: str) -> BinaryIO:
    return sys.stdin.buffer if state == "-" else Path(state).open("rb")


def _pick(answerer: Answerer, name: str | None) -> Pod:
    """The pod that is asked about: by name, or the only one that waits."""
    waiting = answerer.feed.waiting
    if name is not None:
        key = name if "/" in name else f"default/{name}"
        if key not in waiting:
            raise InputError(f"no pod {key} waits for a node; waiting: {', '.join(waiting) or 'none'}")
        return waiting[key]
    if len(waiting) != 1:
        raise InputError(f"{len(waiting)} pods wait for a node: name one with --pod")
    return next(iter(waiting.values()))


def _print(answer: Explanation, output: str) -> None:
    if output == "json":
        sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
        sys.stdout.buffer.flush()
    else:
        click.echo(table(answer), nl=False)

"""The commands around control planes: `schedlab tools`, `up`, `down`, `status`, `kubeconfig`, `logs`."""

from __future__ import annotations

import asyncio
import functools
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ParamSpec, TypeVar

import click

from schedlab import timing
from schedlab.cluster import reaper
from schedlab.cluster import tools as toolbox
from schedlab.cluster.backend import ClusterSpec
from schedlab.cluster.fleet import heartbeats, parse
from schedlab.cluster.layout import ADMIN, USERS
from schedlab.cluster.local import LocalBackend
from schedlab.cluster.nodes import parse_groups
from schedlab.cluster.progress import reporter
from schedlab.cluster.state import ClusterRecord, Registry
from schedlab.cluster.status import describe, node_summary
from schedlab.cluster.versions import LOCAL_BACKEND, PROGRAMS, Program, programs
from schedlab.errors import SchedlabError, UsageError

P = ParamSpec("P")
R = TypeVar("R")

DEFAULT_NAME = "lab"
_FOLLOW_SECONDS = 0.2


def _reports_errors(command: Callable[P, R]) -> Callable[P, R]:
    """Print a SchedlabError as message and hint, and exit with its code."""

    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except SchedlabError as error:
            click.echo(error.render(), err=True)
            sys.exit(error.exit_code)

    return wrapped


_name_option = click.option(
    "--name", default=DEFAULT_NAME, show_default=True, help="Which control plane, if several run."
)
_assets_option = click.option(
    "--assets",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A directory with the programs; it goes before KUBEBUILDER_ASSETS and the cache.",
)


@click.group()
def tools() -> None:
    """The programs of a control plane: etcd, kube-apiserver and the others, at pinned versions."""


@tools.command("install")
@click.argument("names", nargs=-1)
@click.option(
    "--method",
    "methods",
    multiple=True,
    type=click.Choice(toolbox.METHODS),
    help="Use this way only (repeatable). By default a download is tried first, then a build.",
)
@_assets_option
@_reports_errors
def install_tools(names: Sequence[str], methods: Sequence[str], assets: Path | None) -> None:
    """Download or build what is missing of NAMES (by default all that `schedlab up` needs).

    A program of Kubernetes may be wanted at another version: kube-scheduler@1.34.4. The file of a scheduler
    (.yaml) stands for the programs that it names.
    """
    from schedlab.schedulers.declaration import declared  # noqa: PLC0415 - only files of schedulers need it

    wanted: list[Program] = []
    for name in names or LOCAL_BACKEND:
        wanted += declared(name).programs() if name.endswith((".yaml", ".yml")) else programs([name])
    _print_tools(toolbox.installed(wanted, reporter(), assets=assets, methods=methods or toolbox.METHODS))


@tools.command("list")
@_assets_option
@_reports_errors
def list_tools(assets: Path | None) -> None:
    """Show every program, the version that is wanted, and where it was found."""
    _print_tools(toolbox.locate(list(PROGRAMS), assets=assets), list(PROGRAMS))


@tools.command("path")
@click.argument("name", type=click.Choice(list(PROGRAMS)))
@_assets_option
@_reports_errors
def tool_path(name: str, assets: Path | None) -> None:
    """Print where a program is."""
    click.echo(toolbox.find([name], assets=assets).path(name))


def _print_tools(found: toolbox.Tools, names: Sequence[str] = ()) -> None:
    by_name = {tool.name: tool for tool in found}
    for name in names or list(by_name):
        tool = by_name.get(name)
        where = f"{tool.path}  ({tool.source})" if tool is not None else "not installed"
        version = tool.version if tool is not None else PROGRAMS[name].version
        click.echo(f"{name:24} {version:8} {where}")


@click.command()
@_name_option
@click.option(
    "--nodes", default="", metavar="PROFILE=COUNT,…", help="Fake machines, as in h100x8=4,cpu-32=2."
)
@click.option(
    "--fleet",
    default="",
    metavar="FLEET",
    help="Fake machines by racks and zones, as in '4 racks x 18 gb200-nvl72, 200 h100x8 in 3 zones'.",
)
@click.option("--zones", default=1, show_default=True, type=click.IntRange(0), help="Spread them over zones.")
@click.option("--racks", default=0, show_default=True, type=click.IntRange(0), help="Racks in each zone.")
@click.option("--controller-flag", multiple=True, metavar="NAME=VALUE", help="For kube-controller-manager.")
@click.option("--apiserver-flag", multiple=True, metavar="NAME=VALUE", help="For kube-apiserver.")
@_assets_option
@_reports_errors
def up(
    *,
    name: str,
    nodes: str,
    fleet: str,
    zones: int,
    racks: int,
    controller_flag: Sequence[str],
    apiserver_flag: Sequence[str],
    assets: Path | None,
) -> None:
    """Boot a control plane with fake nodes; it stays until `schedlab down`."""
    groups, batches = parse_groups(nodes), parse(fleet) if fleet else []
    found = toolbox.install(reporter(), assets=assets)
    spec = ClusterSpec(
        name=name,
        nodes=groups,
        zones=zones,
        racks=racks,
        fleet=batches,
        controller_flags=_flags(controller_flag),
        apiserver_flags=_flags(apiserver_flag),
        background=True,
        tools=found,
        progress=reporter(),
    )
    started = timing.monotonic()
    plane = asyncio.run(LocalBackend().up(spec))
    took = timing.format_duration(timing.monotonic() - started)
    click.echo(f"{name} is up after {took}: {plane.server}, {spec.size} nodes")
    if slowed := heartbeats(spec.size).grace:
        click.echo(f"  heartbeats are slow for so many nodes: one that falls silent is lost after {slowed}")
    click.echo(f"  export KUBECONFIG={plane.kubeconfig()}")
    click.echo(f"  schedlab status --name {name}, schedlab logs COMPONENT, schedlab down --name {name}")


def _flags(given: Sequence[str]) -> dict[str, str]:
    flags = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(
                f"{text!r} is not NAME=VALUE", hint="write for example node-monitor-grace-period=10s"
            )
        flags[name.lstrip("-")] = value
    return flags


@click.command()
@_name_option
@click.option("--all", "everything", is_flag=True, help="All that `schedlab up` has started.")
@_reports_errors
def down(name: str, everything: bool) -> None:
    """End a control plane and remove everything that belongs to it."""
    registry = Registry()
    for left in reaper.reap(registry):
        click.echo(f"removed what a killed run had left of {left.name}")
    records = (
        [one for one in registry.records() if one.background] if everything else [_running(registry, name)]
    )
    for record in records:
        with registry.lock():
            gone = reaper.remove(registry, record)
        click.echo(f"{record.name} is down: ended {', '.join(gone.processes) or 'nothing'}")


@click.command()
@click.option("--name", default=None, help="Only this control plane.")
@_reports_errors
def status(name: str | None) -> None:
    """Show what runs: components, ports, versions, nodes."""
    records = [one for one in Registry().records() if name is None or one.name == name]
    if not records:
        click.echo("nothing is running" if name is None else f"no control plane is called {name}")
    for record in records:
        click.echo(describe(record, asyncio.run(node_summary(record))))


@click.command()
@_name_option
@click.option("--user", default=ADMIN, show_default=True, type=click.Choice(sorted(USERS)))
@click.option("--content", is_flag=True, help="Print the file itself instead of its path.")
@_reports_errors
def kubeconfig(name: str, user: str, content: bool) -> None:
    """Print the path of a kubeconfig, for KUBECONFIG or --kubeconfig."""
    path = _running(Registry(), name).layout.kubeconfig(user)
    click.echo(path.read_text() if content else path)


@click.command()
@click.argument("component", required=False)
@_name_option
@click.option("-f", "--follow", is_flag=True, help="Go on printing what is added.")
@_reports_errors
def logs(component: str | None, name: str, follow: bool) -> None:
    """Print the log of a COMPONENT; without one, list the components that have a log."""
    record = _running(Registry(), name)
    known = sorted(path.stem for path in (record.layout.directory / "logs").glob("*.log"))
    if component is None:
        click.echo("\n".join(known))
        return
    if component not in known:
        raise UsageError(f"{component!r} has no log", hint=f"these have: {', '.join(known)}")
    _print_log(record.layout.log(component), follow=follow)


def _print_log(path: Path, *, follow: bool) -> None:
    with path.open(errors="replace") as file:
        shutil.copyfileobj(file, sys.stdout)
        while follow and path.exists():
            timing.pause(_FOLLOW_SECONDS)
            shutil.copyfileobj(file, sys.stdout)
            sys.stdout.flush()


def _running(registry: Registry, name: str) -> ClusterRecord:
    record = registry.named(name)
    if record is None:
        others = ", ".join(one.name for one in registry.records() if one.background) or "none"
        raise UsageError(
            f"no control plane {name!r} is running", hint=f"running: {others}; see `schedlab up --help`"
        )
    return record

"""Compares kubesched with kube-scheduler under every switch of the configuration, one by one.

One control plane serves all of them; a switch costs a scheduler's start and its decisions. What is finished
is written to `artifacts/switches/results.jsonl` and not repeated for the same commit, seed and number of
decisions, so a run that was interrupted goes on where it was. Exits 1 if any switch shows a difference, or
changes no decision at all.

    python -m tests.differential.switches [--decisions 500] [--only NAME] [--seed 1] [--again]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from schedlab.cluster.backend import ControlPlane
from schedlab.cluster.local import LocalBackend
from schedlab.decisions.explain import KUBESCHED, Explain
from schedlab.fuzz.features import chosen
from schedlab.fuzz.oracle import attach, cluster_spec
from schedlab.fuzz.plan import Plan
from schedlab.fuzz.provenance import commit
from schedlab.fuzz.run import Run, Settings
from schedlab.fuzz.tally import Tally
from tests.differential.switches.catalogue import SECOND, Switch, switches

ARTIFACTS = Path(__file__).parents[3] / "artifacts" / "switches"
#: Switches that change no decision of these cases, and why.
_IDLE = {
    "spread-system": "it is the default",
    "without-NodeDeclaredFeatures": "no node declares a feature",
    "without-NodeName": "pods that name their node never reach a scheduler",
}


def shared_out(plan: Plan) -> Plan:
    """The plan with every other pod asking for the second profile."""
    for pod in plan.arrivals[1::2]:
        pod["spec"]["schedulerName"] = SECOND
    return plan


async def compare(switch: Switch, plane: ControlPlane, arguments: argparse.Namespace) -> Tally:
    """Compare under one switch; also counts the decisions that the default configuration makes otherwise."""
    file = ARTIFACTS / f"{switch.name}.config.json"
    file.write_text(json.dumps(switch.config))
    settings = Settings(
        decisions=arguments.decisions,
        seed=arguments.seed,
        features=chosen(switch.features),
        findings=ARTIFACTS / switch.name,
        provenance=f"commit {commit()}, seed {arguments.seed}, switch {switch.name}",
        exercise=0,
        judge=False,
    )
    if switch.profiles:
        settings.dress = shared_out
    async with AsyncExitStack() as stack:
        recorder = await attach(stack, plane, switch.config, tapped=True)
        explain = await stack.enter_async_context(Explain((*KUBESCHED, "--config", str(file))))
        plain = None if switch.profiles else await stack.enter_async_context(Explain(KUBESCHED))
        return await Run(settings, recorder, explain, plain=plain).run()


async def compare_all(
    wanted: list[Switch], arguments: argparse.Namespace, keep: Callable[[Switch, Tally], None]
) -> None:
    """Compare under each switch in turn, on one control plane."""
    plane = await LocalBackend().up(cluster_spec("switches"))
    try:
        for switch in wanted:
            keep(switch, await compare(switch, plane, arguments))
    finally:
        await plane.down()


def finished(path: Path, key: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The results of earlier runs under the same key, by switch."""
    if not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return {line["switch"]: line for line in lines if line["key"] == key}


def verdict(result: dict[str, Any]) -> str:
    """`equal`, or what is wrong."""
    if result["differences"]:
        return "; ".join(f"{count} x {what}" for what, count in result["differences"].items())
    idle = result["switched"] == 0 and not result["profiles"]
    if idle and result["switch"] not in _IDLE:
        return "CHANGED NO DECISION"
    return f"equal ({_IDLE[result['switch']]})" if idle else "equal"


def show(results: list[dict[str, Any]]) -> int:
    """Print the table; 1 if anything is wrong."""
    print(f"{'switch':<42} {'decisions':>9} {'changed':>8} {'discarded':>9} {'/s':>5}  verdict")
    for one in results:
        discarded = sum(one["discarded"].values())
        changed = "-" if one["profiles"] else one["switched"]
        line = (
            f"{one['switch']:<42} {one['decisions']:>9} {changed:>8} {discarded:>9} {one['perSecond']:>5.0f}"
        )
        print(f"{line}  {verdict(one)}")
    wrong = [one["switch"] for one in results if not verdict(one).startswith("equal")]
    print(
        f"{len(results)} switches, {sum(one['decisions'] for one in results)} decisions, {len(wrong)} wrong"
    )
    return 1 if wrong else 0


def main() -> int:
    """Compare under every chosen switch; 1 if one shows a difference."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--decisions", type=int, default=500)
    parser.add_argument("--only", default="", metavar="NAME", help="switches whose name contains this")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again", action="store_true", help="repeat what is finished, too")
    arguments = parser.parse_args()
    wanted = [one for one in switches() if arguments.only in one.name]
    if not wanted:
        sys.exit(f"no switch contains {arguments.only!r}; there are {', '.join(s.name for s in switches())}")
    ARTIFACTS.mkdir(parents=True, exist_ok=True)
    path = ARTIFACTS / "results.jsonl"
    key = {"commit": commit(), "seed": arguments.seed, "decisions": arguments.decisions}
    done = {} if arguments.again else finished(path, key)

    def keep(switch: Switch, tally: Tally) -> None:
        done[switch.name] = {
            "switch": switch.name,
            "key": key,
            "profiles": switch.profiles,
            **tally.to_json(),
        }
        with path.open("a") as file:
            file.write(json.dumps(done[switch.name]) + "\n")
        print(f"{switch.name}: {tally.line()}", flush=True)

    asyncio.run(compare_all([one for one in wanted if one.name not in done], arguments, keep))
    return show([done[one.name] for one in wanted])


if __name__ == "__main__":
    sys.exit(main())

"""Breaks a copy of kubesched with every patch in this folder and demands that fuzz finds it in time.

A patch starts with lines `Why: …`, `Features: …` (what to draw) and, if need be, `Config: FILE` (beside the
patch); the diff follows. A fault is found when fuzz reports a difference within the given number of
decisions. A patch that does not apply proves nothing and is an error.

    python -m tests.differential.faults [-k SUBSTRING] [--decisions 500] [--seed 1]
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import yaml

from schedlab.decisions.explain import KUBESCHED, Explain
from schedlab.fuzz.features import chosen
from schedlab.fuzz.oracle import oracle
from schedlab.fuzz.recorder import Recorder
from schedlab.fuzz.run import Run, Settings
from schedlab.fuzz.tally import Tally

HERE = Path(__file__).parent
ROOT = HERE.parent.parent.parent
FINDINGS = ROOT / "artifacts" / "faults"


@dataclass(frozen=True)
class Fault:
    """One patch: what it breaks and where that shows."""

    path: Path
    why: str
    features: tuple[str, ...]
    config: Path | None

    @property
    def name(self) -> str:
        """The patch's name."""
        return self.path.stem


def read(path: Path) -> Fault:
    """Read a patch's header.

    Raises:
        SystemExit: the header lacks `Why:` or `Features:`.
    """
    header = path.read_text().split("\ndiff --git", 1)[0].splitlines()
    entries = dict(line.split(":", 1) for line in header if ":" in line)
    if not {"Why", "Features"} <= entries.keys():
        sys.exit(f"{path.name}: the header needs a 'Why:' and a 'Features:' line")
    config = HERE / entries["Config"].strip() if "Config" in entries else None
    return Fault(path, entries["Why"].strip(), chosen(entries["Features"]), config)


def broken_copy(fault: Fault, directory: Path) -> Path:
    """A copy of the scheduler with the patch applied.

    Raises:
        SystemExit: the patch does not apply.
    """
    tree = directory / fault.name
    shutil.copytree(ROOT / "scheduler", tree / "scheduler", ignore=shutil.ignore_patterns("__pycache__"))
    applied = subprocess.run(
        ["git", "apply", "--whitespace=nowarn", str(fault.path)],
        cwd=tree, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if applied.returncode:
        sys.exit(f"{fault.name} does not apply: {applied.stderr.strip()}")
    return tree / "scheduler"


async def hunt(fault: Fault, tree: Path, recorder: Recorder, arguments: argparse.Namespace) -> Tally:
    """Fuzz the broken copy until the first difference."""
    settings = Settings(
        decisions=arguments.decisions,
        seed=arguments.seed,
        features=fault.features,
        findings=FINDINGS / fault.name,
        provenance=f"injected fault: {fault.why}; seed {arguments.seed}",
        exercise=0,
        most_differences=1,
    )
    argv = ("env", f"PYTHONPATH={tree}", *KUBESCHED)
    if fault.config:
        argv = (*argv, "--config", str(fault.config))
    async with Explain(argv) as explain:
        return await Run(settings, recorder, explain).run()


async def hunt_all(faults: list[Fault], arguments: argparse.Namespace) -> list[str]:
    """The names of the faults that were missed; one control plane serves all of one configuration."""
    missed: list[str] = []
    with tempfile.TemporaryDirectory(prefix="schedlab-faults-") as directory:
        for config in dict.fromkeys(fault.config for fault in faults):
            given = yaml.safe_load(config.read_text()) if config else None
            async with oracle("faults", config=given) as recorder:
                for fault in (one for one in faults if one.config == config):
                    tree = broken_copy(fault, Path(directory))
                    tally = await hunt(fault, tree, recorder, arguments)
                    verdict = f"found within {tally.decisions} decisions" if tally.failed else "NOT FOUND"
                    print(f"{verdict}: {fault.name} ({fault.why}) {'; '.join(tally.differences)}", flush=True)
                    missed += [] if tally.failed else [fault.name]
    return missed


def main() -> int:
    """Hunt every chosen fault; 1 if one was missed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("-k", default="", metavar="SUBSTRING")
    parser.add_argument("--decisions", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    faults = [read(path) for path in sorted(HERE.glob("*.patch")) if arguments.k in path.stem]
    if not faults:
        sys.exit(f"no fault contains {arguments.k!r}")
    missed = asyncio.run(hunt_all(faults, arguments))
    print(f"the smallest states are in {FINDINGS}" if not missed else f"not found: {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

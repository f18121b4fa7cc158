"""Applies every patch in this folder to a copy of the tree and demands that the tests it names fail.

A patch starts with lines `Why: …` (the bug it brings back) and one or more `Kills: <pytest id>`; the diff
follows. A mutant is killed when its tests fail (pytest's exit code 1). A patch that does not apply, a test
that cannot be collected, and a test that is red without the patch are errors: they prove nothing. There is
a copy of the tree per processor.

    python -m tests.mutants [-k SUBSTRING]
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
TESTS_FAILED = 1  # pytest.ExitCode.TESTS_FAILED


@dataclass(frozen=True)
class Mutant:
    """One patch: why it matters and which tests must notice."""

    name: str
    path: Path
    why: str
    kills: tuple[str, ...]


def read(path: Path) -> Mutant:
    """Read a patch's header.

    Raises:
        SystemExit: the header lacks `Why:` or `Kills:`.
    """
    header = path.read_text().split("\ndiff --git", 1)[0].splitlines()
    why = " ".join(line.removeprefix("Why:").strip() for line in header if line.startswith("Why:"))
    kills = tuple(line.removeprefix("Kills:").strip() for line in header if line.startswith("Kills:"))
    if not why or not kills:
        sys.exit(f"{path.name}: the header needs a 'Why:' line and at least one 'Kills: <pytest id>' line")
    return Mutant(path.stem, path, why, kills)


def copy_tree(to: Path) -> None:
    """Copy the files git knows or would add, as they are in the working tree."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.split("\0")):
        source, target = ROOT / name, to / name
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


def run_tests(tree: Path, tests: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    """Run the named tests against the copy, whose packages come before the installed ones."""
    path = os.pathsep.join(str(tree / part) for part in ("scheduler", "harness"))
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)


def verdict(tree: Path, mutant: Mutant) -> str:
    """Return `killed`, `SURVIVED` or why the mutant proves nothing."""
    applied = subprocess.run(
        ["git", "apply", "--whitespace=nowarn", str(mutant.path)],
        cwd=tree, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if applied.returncode:
        return f"DOES NOT APPLY: {applied.stderr.strip().splitlines()[0]}"
    try:
        done = run_tests(tree, mutant.kills)
    finally:
        subprocess.run(["git", "apply", "-R", "--whitespace=nowarn", str(mutant.path)], cwd=tree, check=True)
    if done.returncode == TESTS_FAILED:
        return "killed"
    if done.returncode == 0:
        return "SURVIVED"
    last_line = (done.stdout + done.stderr).strip().splitlines()[-1]
    return f"DOES NOT RUN (pytest exit {done.returncode}): {last_line}"


def in_turn(trees: SimpleQueue[Path], mutant: Mutant) -> str:
    """The verdict of a mutant in a tree that is free."""
    tree = trees.get()
    try:
        return verdict(tree, mutant)
    finally:
        trees.put(tree)


def main() -> int:
    """Print one line per mutant and return 1 unless all are killed."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants")
    parser.add_argument("-k", metavar="SUBSTRING", default="", help="only mutants whose name contains it")
    wanted = parser.parse_args().k
    mutants = [read(path) for path in sorted(HERE.glob("*.patch")) if wanted in path.stem]
    if not mutants:
        sys.exit(f"no mutant in {HERE} has {wanted!r} in its name")
    workers = min(os.cpu_count() or 1, len(mutants))
    with tempfile.TemporaryDirectory(prefix="mutants-") as directory, ThreadPoolExecutor(workers) as pool:
        trees: SimpleQueue[Path] = SimpleQueue()
        for number in range(workers):
            copy_tree(Path(directory, str(number)))
            trees.put(Path(directory, str(number)))
        tests = tuple(sorted({test for mutant in mutants for test in mutant.kills}))
        baseline = run_tests(Path(directory, "0"), tests)
        if baseline.returncode:
            print(baseline.stdout, baseline.stderr, sep="\n")
            sys.exit("the named tests must pass without any mutant; they do not")
        failures = 0
        for mutant, answer in zip(mutants, pool.map(lambda one: in_turn(trees, one), mutants), strict=True):
            failures += answer != "killed"
            print(f"{answer:<9} {mutant.name}: {mutant.why}", flush=True)
    print(f"{len(mutants) - failures} passed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

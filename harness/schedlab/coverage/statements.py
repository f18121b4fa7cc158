"""The documented statements, as data: `suites/statements/*.yaml`, one file for each document.

A statement has an id that never changes, our own words for what is said, and the tests that prove it: tests
of suites by AREA/NAME, and unit tests by FILE or FILE::NAME below `tests/unit`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import yaml
from msgspec import Meta

from schedlab import data
from schedlab.errors import UsageError


class Statement(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """One thing that a document says and that can be tested.

    `now` tells what is different in the version of Kubernetes that is tested.
    """

    id: Annotated[str, Meta(pattern=r"^S[0-9]{3}-[0-9]{2,3}$")]
    says: str
    now: str = ""
    tests: tuple[str, ...] = ()
    unit: tuple[str, ...] = ()


class Seed(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A document and what it says."""

    seed: str
    title: str
    source: str
    statements: tuple[Statement, ...]


def load(directory: Path | None = None) -> list[Seed]:
    """All documents, by number.

    Raises:
        UsageError: a file is malformed, or an id is used twice; the message names file and field.
    """
    directory = directory or data.path("suites/statements")
    seeds = [_read(path) for path in sorted(directory.glob("*.yaml"))]
    counts = Counter(statement.id for seed in seeds for statement in seed.statements)
    for twice in (name for name, count in counts.items() if count > 1):
        raise UsageError(f"{directory}: the id {twice} is given twice", hint="every statement has its own")
    return seeds


def _read(path: Path) -> Seed:
    try:
        seed = msgspec.convert(yaml.safe_load(path.read_text()), Seed)
    except (yaml.YAMLError, msgspec.ValidationError) as error:
        raise UsageError(
            f"{path}: {error}", hint="see suites/statements/003-scheduling-queue.yaml for the form"
        ) from error
    for statement in seed.statements:
        if not statement.id.startswith(f"S{seed.seed}-"):
            raise UsageError(
                f"{path}: the id {statement.id} is not of seed {seed.seed}", hint="S and the seed"
            )
    return seed


def missing(seeds: Sequence[Seed], root: Path) -> Iterator[str]:
    """Tests that are named and do not exist in a checkout, each with its statement."""
    for statement in (one for seed in seeds for one in seed.statements):
        for name in statement.tests:
            if not (root / "suites" / name / "test.yaml").is_file():
                yield f"{statement.id}: there is no suite test {name}"
        for name in statement.unit:
            if not _defined(root / "tests" / "unit", name):
                yield f"{statement.id}: there is no unit test {name}"


def _defined(tests: Path, name: str) -> bool:
    file, _, function = name.partition("::")
    path = tests / file
    pattern = rf"^(?:async )?def {re.escape(function)}\(" if function else ""
    return path.is_file() and re.search(pattern, path.read_text(), re.MULTILINE) is not None

"""Tests as pytest items: collected from files, arranged by scheduler, run on the process's lab."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from schedlab import timing
from schedlab.api.objects import Json
from schedlab.cluster.local import LocalBackend
from schedlab.errors import UsageError
from schedlab.report.failures import rendered
from schedlab.report.progress import Worker
from schedlab.runner import selection, sensitivity, shards
from schedlab.runner.artifacts import run_directory
from schedlab.runner.execution import Pace
from schedlab.runner.lab import Lab
from schedlab.runner.result import Result, marker
from schedlab.runner.turn import turn
from schedlab.schedulers.declaration import SchedulerSpec, declared
from schedlab.suite.loader import load
from schedlab.suite.plan import Test
from schedlab.suite.positions import LoadError
from schedlab.suite.scenarios import expanded

DEFAULT_SCHEDULER = "kube-scheduler"

_LAB: pytest.StashKey[Lab] = pytest.StashKey()
_SCHEDULERS: pytest.StashKey[list[SchedulerSpec]] = pytest.StashKey()


class Unsuccessful(Exception):  # noqa: N818 - a verdict, not an error of the program
    """A test did not pass."""

    def __init__(self, result: Result) -> None:
        super().__init__(result.reason)
        self.result = result


class SuiteFile(pytest.File):
    """One `test.yaml`: an item per scheduler."""

    def collect(self) -> Iterator[pytest.Item]:
        """The items; a file that is wrong is a collection error with all its problems."""
        try:
            tests = expanded(load(self.path))
            specs = schedulers(self.config)
        except LoadError as error:
            raise self.CollectError(error.render()) from error
        for test in tests:
            yield from self._items(test, specs)

    def _items(self, test: Test, specs: list[SchedulerSpec]) -> Iterator[pytest.Item]:
        mutant = sensitivity.mutant(test) if self.config.option.sensitivity else None
        if self.config.option.sensitivity and mutant is None:
            return
        runs = self.config.option.repeat
        for spec, repeat in itertools.product(specs, range(1, runs + 1) if runs > 1 else (0,)):
            name = f"{test.id}[{marker(spec.name, mutant.title if mutant else '', repeat)}]"
            # Given as text, so that pytest sees the parameter in it as when it reads its cache (--lf).
            nodeid = f"{self.nodeid}::{name}"
            yield SuiteItem.from_parent(
                self, name=name, nodeid=nodeid, test=test, spec=spec, mutant=mutant, repeat=repeat
            )


class SuiteItem(pytest.Item):
    """One test on one scheduler."""

    def __init__(
        self,
        *,
        test: Test,
        spec: SchedulerSpec,
        mutant: sensitivity.Mutant | None,
        repeat: int,
        **more: Json,
    ) -> None:
        super().__init__(**more)
        self.test = mutant.test if mutant else test
        self.spec = spec
        self.repeat = repeat
        self.mutation = mutant.title if mutant else ""
        self.disabled = mutant.disabled if mutant else ()
        self.result: Result | None = None
        if test.spec.skip:
            self.add_marker(pytest.mark.skip(reason="the test says skip"))

    def runtest(self) -> None:
        """Run it.

        Raises:
            Unsuccessful: it did not pass.
        """
        worker = progress(self.config)
        option, spec = self.config.option, self.test.spec
        attempts = 1 if self.mutation else spec.flake_attempts or option.flake_attempts
        try:
            with turn(run_directory(self.config), alone=not spec.concurrent):
                result = lab(self.config).run(
                    self.test,
                    self.spec,
                    disabled=self.disabled,
                    mutation=self.mutation,
                    pace=sensitivity.PACE if self.mutation else Pace(),
                    attempts=attempts,
                    allow_scripts=option.allow_scripts,
                    repeat=self.repeat,
                    progress=worker.begin(self.name),
                )
        finally:
            worker.idle()
        budget = "" if self.mutation else spec.budget or option.budget
        seconds = timing.parse_duration(budget) if budget else 0.0
        result = msgspec.structs.replace(result, repeat=self.repeat, budget=seconds)
        self.result = sensitivity.turned(result) if self.mutation else result
        self.user_properties.append(("verdict", self.result.verdict))
        if self.result.verdict not in ("pass", "flaky"):
            raise Unsuccessful(self.result)

    def attach(self, report: pytest.TestReport) -> None:
        """Let the report carry the result, also from one process to another."""
        if self.result is not None:
            vars(report)["schedlab"] = msgspec.to_builtins(self.result)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Json = None) -> Json:
        """The evidence in place of a traceback."""
        if isinstance(excinfo.value, Unsuccessful):
            return rendered(excinfo.value.result)
        return super().repr_failure(excinfo, style=style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the test stands and what it is called."""
        return self.path, 0, self.name


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Json:
    """Let the report of a test carry its result."""
    report = yield
    if isinstance(item, SuiteItem) and call.when == "call":
        item.attach(report)
    return report


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Select by label and name, and put tests next to each other that share a control plane and a setup."""
    wanted = _wanted(config)
    ours = [item for item in items if isinstance(item, SuiteItem)]
    mine = _sharded(config, {item.test.id for item in ours if wanted(item.test)})
    gone = {item for item in ours if item.test.id not in mine}
    if gone:
        config.hook.pytest_deselected(items=list(gone))
    order = {spec.name: index for index, spec in enumerate(schedulers(config))}
    items[:] = sorted((item for item in items if item not in gone), key=lambda item: _rank(item, order))


def _sharded(config: pytest.Config, tests: set[str]) -> set[str]:
    """Those of the tests that this shard runs.

    Raises:
        pytest.UsageError: the shard or the record of durations is wrong.
    """
    option = config.option
    if not option.shard:
        return tests
    try:
        number, count = shards.parse(option.shard)
        known = shards.durations(Path(option.durations_from)) if option.durations_from else {}
    except UsageError as error:
        raise pytest.UsageError(error.render()) from error
    return shards.shard(tests, number, count, known)


def _rank(item: pytest.Item, order: dict[str, int]) -> tuple[int, int, str, str, str]:
    if not isinstance(item, SuiteItem):
        return (-1, 0, "", "", "")
    control_plane = item.test.spec.control_plane
    needs = item.test.spec.scheduler
    setup = repr((item.disabled, needs.config, needs.flags, needs.extenders))
    kind = repr(control_plane) if control_plane else ""
    return (order[item.spec.name], item.repeat, kind, setup, item.test.id)


def _wanted(config: pytest.Config) -> Json:
    option = config.option
    labels = selection.selector(option.selector)
    include = selection.pattern(option.include_test_regex)
    exclude = selection.pattern(option.exclude_test_regex) if option.exclude_test_regex else None

    def wanted(test: Test) -> bool:
        if exclude is not None and exclude.search(test.id):
            return False
        return labels(test.metadata.labels) and include.search(test.id) is not None

    return wanted


def schedulers(config: pytest.Config) -> list[SchedulerSpec]:
    """The schedulers under test.

    Raises:
        pytest.UsageError: one of them is not known, or its declaration is wrong, or two have one name.
    """
    if _SCHEDULERS not in config.stash:
        try:
            specs = [declared(name) for name in config.option.scheduler or [DEFAULT_SCHEDULER]]
        except UsageError as error:
            raise pytest.UsageError(error.render()) from error
        names = [spec.name for spec in specs]
        if len(set(names)) < len(names):
            raise pytest.UsageError(f"two schedulers have one name: {', '.join(names)}")
        config.stash[_SCHEDULERS] = specs
    return config.stash[_SCHEDULERS]


def declarations(config: pytest.Config) -> dict[str, str]:
    """The files that declare schedulers, by the schedulers' names, as they were given."""
    given = config.option.scheduler or [DEFAULT_SCHEDULER]
    pairs = zip(schedulers(config), given, strict=True)
    return {spec.name: text for spec, text in pairs if spec.name != text}


def lab(config: pytest.Config) -> Lab:
    """The lab of this process, made when first needed."""
    if _LAB not in config.stash:
        config.stash[_LAB] = Lab(LocalBackend(), run_directory(config), _worker())
    return config.stash[_LAB]


def progress(config: pytest.Config) -> Worker:
    """Where this process says what it does."""
    return Worker(run_directory(config), _worker())


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Take the control plane down, before the report ends."""
    if _LAB in session.config.stash:
        worker = progress(session.config)
        worker.begin("taking the control plane down")
        session.config.stash[_LAB].close()
        worker.idle()
        del session.config.stash[_LAB]


def _worker() -> str:
    """This worker's name under pytest-xdist, or nothing."""
    return os.environ.get("PYTEST_XDIST_WORKER", "")

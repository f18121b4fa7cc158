"""One control plane serves all tests of a scheduler, until it is spoilt or another scheduler's turn comes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from schedlab.errors import EnvironmentStartError
from schedlab.runner import lab as module
from schedlab.runner.lab import Lab
from schedlab.runner.result import Result
from schedlab.schedulers.declaration import SchedulerSpec, Spec
from schedlab.suite.loader import load
from schedlab.suite.plan import Test
from schedlab.suite.types import ControlPlaneNeeds

HEAD = (
    "apiVersion: schedlab/v1alpha1\nkind: Test\nmetadata: {name: t}\nspec: {steps: [{try: [{events: {}}]}]}\n"
)


class FakeStation:
    """A control plane that remembers being closed."""

    opened: list[FakeStation] = []  # noqa: RUF012 - emptied by the fixture
    broken = False

    def __init__(self, spec: SchedulerSpec, name: str, needs: ControlPlaneNeeds) -> None:
        self.spec = spec
        self.needs = needs
        self.name = name
        self.spoilt = ""
        self.closed = False
        self.recorder = self

    @classmethod
    async def open(
        cls, backend: object, spec: SchedulerSpec, name: str, directory: Path, needs: ControlPlaneNeeds
    ) -> FakeStation:
        if cls.broken:
            raise EnvironmentStartError("etcd is missing")
        cls.opened.append(cls(spec, name, needs))
        return cls.opened[-1]

    def failed(self) -> None:
        return None

    async def close(self) -> None:
        self.closed = True


@pytest.fixture
def verdicts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The verdicts of the next runs; `pass` when there are none left."""
    verdicts: list[str] = []

    async def run_test(station: Any, order: Any) -> Result:
        verdict = verdicts.pop(0) if verdicts else "pass"
        if verdict == "no scheduler":
            raise EnvironmentStartError("unknown plugin X")
        if verdict == "left":
            station.spoilt, verdict = "something stayed", "fail"
        return Result(
            test=order.test.id,
            path="p",
            scheduler=station.spec.name,
            verdict=verdict,
            artifacts=str(order.directory),
        )

    FakeStation.opened.clear()
    monkeypatch.setattr(FakeStation, "broken", False)
    monkeypatch.setattr(module, "Station", FakeStation)
    monkeypatch.setattr(module, "run_test", run_test)
    return verdicts


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    lab = Lab(backend=None, directory=tmp_path / "run", worker="gw0")  # type: ignore[arg-type]
    yield lab
    lab.close()


def spec(name: str) -> SchedulerSpec:
    return SchedulerSpec(name=name, spec=Spec(command=["x"]))


@pytest.fixture
def run(lab: Lab, tmp_path: Path) -> Any:
    path = tmp_path / "area" / "t" / "test.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(HEAD)
    test = load(path)
    return lambda scheduler="a", **more: lab.run(test, spec(scheduler), **more)


def test_one_control_plane_serves_all_tests_of_a_scheduler(run: Any, verdicts: list[str]) -> None:
    """A failed test does not spoil it."""
    verdicts[:] = ["fail", "pass"]
    assert [run().verdict, run().verdict] == ["fail", "pass"]
    assert [station.name for station in FakeStation.opened] == ["a-gw0-1"]


def test_another_scheduler_gets_another_one(run: Any, verdicts: list[str]) -> None:
    """And the first goes down."""
    run("a")
    run("b")
    assert [(s.name, s.closed) for s in FakeStation.opened] == [("a-gw0-1", True), ("b-gw0-2", False)]


def test_leftovers_retire_a_control_plane(run: Any, verdicts: list[str]) -> None:
    """The next test must not meet them."""
    verdicts[:] = ["left", "pass"]
    run()
    run()
    assert [station.closed for station in FakeStation.opened] == [True, False]


def test_closing_takes_the_last_one_down(run: Any, lab: Lab, verdicts: list[str]) -> None:
    """Whatever happened before."""
    run()
    lab.close()
    assert FakeStation.opened[0].closed


def test_no_environment_is_inconclusive_and_is_not_tried_again(run: Any, verdicts: list[str]) -> None:
    """Every test says why; nobody waits for a boot that failed once."""
    FakeStation.broken = True
    first = run()
    FakeStation.broken = False
    second = run()
    assert [(r.verdict, r.environment) for r in (first, second)] == [("inconclusive", True)] * 2
    assert "etcd is missing" in second.reason


def test_a_scheduler_that_does_not_start_is_inconclusive(run: Any, verdicts: list[str]) -> None:
    """But the environment is all right."""
    verdicts[:] = ["no scheduler"]
    result = run()
    assert (result.verdict, result.environment) == ("inconclusive", False)
    assert "unknown plugin X" in result.reason
    assert run().verdict == "pass"


def test_a_test_that_passes_when_repeated_is_flaky(run: Any, verdicts: list[str]) -> None:
    """Never plainly passed."""
    verdicts[:] = ["fail", "fail", "pass"]
    result = run(attempts=5)
    assert (result.verdict, result.attempts) == ("flaky", 3)


def test_a_test_that_keeps_failing_has_failed(run: Any, verdicts: list[str]) -> None:
    """After so many attempts; each keeps its artefacts."""
    verdicts[:] = ["fail", "fail", "pass"]
    result = run(attempts=2)
    assert (result.verdict, result.attempts) == ("fail", 2)
    assert result.artifacts.endswith("a/area/t-attempt-2")


def test_nothing_but_a_failure_is_repeated(run: Any, verdicts: list[str]) -> None:
    """An inconclusive run would be no different."""
    verdicts[:] = ["inconclusive", "pass"]
    assert run(attempts=3).verdict == "inconclusive"


def needing(folder: Path, seconds: int) -> Test:
    """A test that needs a control plane with a setting of its own."""
    path = folder / f"own-{seconds}" / "test.yaml"
    path.parent.mkdir(parents=True)
    flags = f"spec: {{controlPlane: {{kubeApiserver: {{default-not-ready-toleration-seconds: {seconds}}}}}, "
    path.write_text(HEAD.replace("spec: {", flags))
    return load(path)


def test_tests_that_need_the_same_of_a_control_plane_share_it(
    lab: Lab, verdicts: list[str], tmp_path: Path
) -> None:
    """Another need, and none at all, is another control plane."""
    two = needing(tmp_path, 2)
    for test in (two, two, needing(tmp_path, 3)):
        lab.run(test, spec("a"))
    flags = [station.needs.kube_apiserver for station in FakeStation.opened]
    assert flags == [{"default-not-ready-toleration-seconds": 2}, {"default-not-ready-toleration-seconds": 3}]
    assert [station.closed for station in FakeStation.opened] == [True, False]


def test_a_setting_that_does_not_start_is_told_with_its_place(
    run: Any, lab: Lab, verdicts: list[str], tmp_path: Path
) -> None:
    """Tests that need something else go on."""
    FakeStation.broken = True
    result = lab.run(needing(tmp_path, 2), spec("a"))
    FakeStation.broken = False
    assert result.verdict == "inconclusive"
    assert (
        "own-2/test.yaml:4:22: the control plane does not start in this way: etcd is missing" in result.reason
    )
    assert run().verdict == "pass"

"""A scheduler is declared in one file; the built-in ones are such files."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from schedlab.errors import EnvironmentStartError, UsageError
from schedlab.schedulers.declaration import built_in, declared
from schedlab.schedulers.running import executable
from schedlab.suite.positions import LoadError

HEAD = "apiVersion: schedlab/v1alpha1\nkind: Scheduler\nmetadata: {name: mine}\n"


def declaration(tmp_path: Path, spec: str) -> Path:
    file = tmp_path / "mine.yaml"
    file.write_text(f"{HEAD}spec: {spec}\n")
    return file


def test_both_built_in_schedulers_are_declared() -> None:
    """By files of the same kind as anybody's."""
    assert built_in() == ["kube-scheduler", "kubesched"]
    for name in built_in():
        spec = declared(name)
        assert spec.name == name
        assert "--config={config}" in spec.spec.command


def test_both_built_in_schedulers_are_started_alike() -> None:
    """A difference in verdict must not come from different flags."""
    reference, ours = (declared(name).spec for name in built_in())
    assert [flag for flag in ours.command if flag.startswith("--")] == [
        flag for flag in reference.command if flag.startswith("--")
    ]
    assert (ours.config, ours.readiness, ours.environment) == (
        reference.config,
        reference.readiness,
        reference.environment,
    )


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    """And with the other way to name one."""
    with pytest.raises(UsageError, match="no scheduler 'kube'") as failure:
        declared("kube")
    assert failure.value.hint == "use one of kube-scheduler, kubesched, or the path of a declaration (.yaml)"


def test_placeholders_are_filled_in(tmp_path: Path) -> None:
    """`{tools}/NAME` is the path of that very program."""
    spec = declared(
        str(declaration(tmp_path, "{command: ['{tools}/kube-scheduler', '--c={config}', '{python}', '{x']}"))
    )
    argv = spec.fill(
        spec.spec.command, {"config": "/c", "python": sys.executable}, {"kube-scheduler": Path("/b/ks")}
    )
    assert argv == ["/b/ks", "--c=/c", sys.executable, "{x"]


def test_a_control_plane_program_that_there_is_not_is_named(tmp_path: Path) -> None:
    """With the closest one."""
    spec = declared(str(declaration(tmp_path, "{command: ['{tools}/kube-schedular']}")))
    with pytest.raises(UsageError, match="no control plane program 'kube-schedular'") as failure:
        spec.fill(spec.spec.command, {}, {"kube-scheduler": Path("/b/ks")})
    assert "kube-scheduler" in failure.value.hint


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("{command: [x, '--p={prot}']}", "4:21: there is no placeholder {prot} (did you mean 'port'?)"),
        ("{}", "4:7: the field 'command' is missing in spec"),
        ("{command: []}", "4:7: Expected `array` of length >= 1"),
        ("{command: [x], readiness: {timeout: 60}}", "4:43: timeout is the number '60', text is needed"),
        (
            "{command: [x], enviroment: {}}",
            "4:22: unknown field 'enviroment' in spec (did you mean 'environment'?)",
        ),
    ],
    ids=["a placeholder", "no command", "an empty command", "a number for a duration", "a field"],
)
def test_mistakes_have_a_place_and_a_way_out(tmp_path: Path, spec: str, expected: str) -> None:
    """As in tests."""
    with pytest.raises(LoadError) as failure:
        declared(str(declaration(tmp_path, spec)))
    assert any(expected.split(": ", 1)[1] in str(problem) for problem in failure.value.problems), (
        failure.value
    )


def test_a_program_is_looked_for_beside_the_file_or_in_path(tmp_path: Path) -> None:
    """Relative to the declaration with a slash, in PATH without."""
    from types import SimpleNamespace

    from schedlab.schedulers.running import command

    spec = declared(str(declaration(tmp_path, "{command: [./bin/mine, -v]}")))
    plane = SimpleNamespace(tools=[])
    assert command(spec, spec.spec.command, {}, plane) == [str(tmp_path / "bin/mine"), "-v"]  # type: ignore[arg-type]
    assert Path(command(spec, ["sh"], {}, plane)[0]).is_absolute()  # type: ignore[arg-type]
    with pytest.raises(EnvironmentStartError, match="no program 'no-such-program'"):
        command(spec, ["no-such-program"], {}, plane)  # type: ignore[arg-type]


def test_a_built_in_scheduler_can_be_had_at_another_version() -> None:
    """With the same flags, from a program that is installed beside the pinned one."""
    pinned, old = declared("kube-scheduler"), declared("kube-scheduler@v1.34.4")
    assert old.name == "kube-scheduler@1.34.4"
    assert [program.key for program in old.programs()] == ["kube-scheduler@1.34.4"]
    assert old.spec.command[0] == "{tools}/kube-scheduler@1.34.4"
    assert old.spec.command[1:] == pinned.spec.command[1:]
    assert pinned.programs() == []


@pytest.mark.parametrize(
    ("name", "message"),
    [("kubesched@1.0.0", "at one version only"), ("kube-scheduler@new", "not a version of Kubernetes")],
)
def test_versions_that_there_are_not_are_refused(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        declared(name)


def test_a_program_can_be_built_from_a_module(tmp_path: Path) -> None:
    """It is not asked for its version, since every program has another way to say it."""
    build = "{module: example.com/sched, version: v0.3.1, package: example.com/sched/cmd/mine}"
    spec = declared(str(declaration(tmp_path, f"{{command: ['{{program}}'], build: {build}}}")))
    (program,) = spec.programs()
    assert (str(program.module), program.built_name, program.version_argv) == (
        "example.com/sched@v0.3.1",
        "mine",
        (),
    )


def test_what_is_not_installed_is_named_with_the_way_to_get_it(tmp_path: Path, monkeypatch: object) -> None:
    """Starting must not begin a build of minutes."""
    monkeypatch.setenv("SCHEDLAB_CACHE_DIR", str(tmp_path))  # type: ignore[attr-defined]
    old = declared("kube-scheduler@1.34.4")
    with pytest.raises(EnvironmentStartError, match=r"not installed: kube-scheduler@1\.34\.4") as caught:
        executable(old, old.spec.command, {})
    assert "schedlab tools install" in caught.value.hint

"""Plugins of installed packages: found by their metadata, configured by name, refused in words."""

from __future__ import annotations

import textwrap
from random import Random

import pytest

from kubesched.clock import VirtualClock
from kubesched.config.gates import FeatureGates
from kubesched.config.load import loads
from kubesched.config.problems import ConfigError
from kubesched.core import CoreOptions, build_core
from kubesched.framework import RegistrationError
from kubesched.framework.registry import PluginImportError
from kubesched.plugins.registry import registry

CODE = """
    from typing import ClassVar
    from kubesched.framework import PluginArgs, unschedulable

    class EvenArgs(PluginArgs, frozen=True, kw_only=True):
        modulus: int = 2
        by_label: str = "number"

        def problems(self):
            if self.modulus < 1:
                yield "modulus", f"Invalid value: {self.modulus}: must be positive"

    class Even:
        name: ClassVar[str] = "Even"

        def __init__(self, args: EvenArgs) -> None:
            self.modulus = args.modulus

        def filter_node(self, cycle, node):
            return unschedulable("odd") if int(node.labels["number"]) % self.modulus else None

    class Renamed(Even):
        name: ClassVar[str] = "Other"

    class WrongArgs(Even):
        name: ClassVar[str] = "WrongArgs"

        def __init__(self, args: int) -> None:
            pass

    class Fails(Even):
        name: ClassVar[str] = "Fails"

        def __init__(self) -> None:
            raise OSError("no such device")

    class NoPlugin:
        name: ClassVar[str] = "NoPlugin"

    instance = Even(EvenArgs())
"""
POINTS = {
    "Even": "even_plugin:Even",
    "Renamed": "even_plugin:Renamed",
    "WrongArgs": "even_plugin:WrongArgs",
    "Fails": "even_plugin:Fails",
    "NoPlugin": "even_plugin:NoPlugin",
    "Instance": "even_plugin:instance",
    "NotThere": "even_plugin:NotThere",
    "NoModule": "uneven_plugin:Even",
}


def install(folder, name: str, points: dict[str, str], code: str = "") -> None:
    """Lay down one module and its metadata as pip does; tests/integration/docs installs with pip itself."""
    listed = "\n".join(f"{key} = {value}" for key, value in points.items())
    (folder / f"{name}.py").write_text(textwrap.dedent(code))
    info = folder / f"{name}-1.5.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.5\n")
    (info / "entry_points.txt").write_text(f"[kubesched.plugins]\n{listed}\n")


@pytest.fixture(scope="module")
def distribution(tmp_path_factory):
    folder = tmp_path_factory.mktemp("packages")
    install(folder, "even_plugin", POINTS, CODE)
    return folder


@pytest.fixture
def installed(distribution, monkeypatch):
    monkeypatch.syspath_prepend(str(distribution))
    return distribution


def configured(*plugins: str, args: str = "") -> str:
    enabled = ", ".join(f"{{name: {name}}}" for name in plugins)
    lines = [
        "apiVersion: kubescheduler.config.k8s.io/v1",
        "kind: KubeSchedulerConfiguration",
        "profiles:",
        "- plugins:",
        f"    multiPoint: {{enabled: [{enabled}]}}",
    ]
    if args:
        lines += ["  pluginConfig:", f"  - name: {plugins[0]}", f"    args: {args}"]
    return "\n".join(lines) + "\n"


def core(text: str):
    known = registry()
    config = loads(text, source="c.yaml", plugins=known.names, args_type=known.args_type)
    return build_core(CoreOptions(config, FeatureGates(), known), VirtualClock(), Random(0))


def built(text: str):
    [framework] = core(text).profiles.values()
    return {item.name: item for item in framework.filters}


def test_an_installed_plugin_runs_with_its_typed_arguments(installed):
    assert built(configured("Even", args="{modulus: 5}"))["Even"]._plugin.modulus == 5
    assert built(configured("Even"))["Even"]._plugin.modulus == 2


@pytest.mark.parametrize(
    ("args", "text"),
    [
        pytest.param(
            "{byLable: x}",
            r"c.yaml:8:12: profiles\[0\].pluginConfig\[0\].args.byLable: unknown field "
            r'\(did you mean "byLabel"\?\)',
            id="an unknown field",
        ),
        pytest.param("{modulus: two}", "args.modulus: expected an integer, found 'two'", id="a wrong type"),
        pytest.param(
            "{modulus: 0}", "c.yaml:8:12: .*args.modulus: Invalid value: 0: must", id="its own rule"
        ),
        pytest.param("{kind: OddArgs}", 'args.kind: must be "EvenArgs", not "OddArgs"', id="another kind"),
    ],
)
def test_its_arguments_are_checked_like_those_of_any_plugin(installed, args, text):
    with pytest.raises(ConfigError, match=text):
        core(configured("Even", args=args))


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        pytest.param(
            "NoModule",
            PluginImportError,
            r'^plugin "NoModule" \(uneven_plugin:Even of even_plugin 1.5\) cannot be imported: ModuleNot',
            id="a module that is not there",
        ),
        pytest.param(
            "NotThere", PluginImportError, "AttributeError: .*NotThere", id="a class that is not there"
        ),
        pytest.param(
            "Renamed", RegistrationError, 'calls itself "Other": the entry point', id="another name"
        ),
        pytest.param("WrongArgs", RegistrationError, "annotated as int", id="arguments of a wrong type"),
        pytest.param("NoPlugin", RegistrationError, "implements no extension point", id="no extension point"),
        pytest.param(
            "Instance", RegistrationError, "is neither a plugin class nor a function", id="an instance"
        ),
        pytest.param(
            "Fails",
            ValueError,
            'initializing plugin "Fails": even_plugin:Fails of even_plugin 1.5 failed: OSError: no such',
            id="a constructor that fails",
        ),
    ],
)
def test_a_broken_plugin_is_named_with_its_package(installed, name, kind, text):
    with pytest.raises(kind, match=text):
        core(configured(name))


def test_a_broken_plugin_with_arguments_is_a_problem_of_the_file(installed):
    with pytest.raises(ConfigError, match=r'c.yaml:8:\d+: .*args: plugin "NoModule" .* cannot be imported'):
        core(configured("NoModule", args="{}"))


def test_a_broken_plugin_that_nobody_uses_harms_nobody(installed):
    assert "Even" not in built(configured("ImageLocality"))


def test_two_packages_with_one_name_are_told_apart(installed, tmp_path, monkeypatch):
    install(tmp_path, "second", {"Even": "second:Even"})
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(
        ValueError, match=r'two packages offer a plugin named "Even": .*second 1.5.*even_plugin 1.5'
    ):
        registry()


def test_an_in_tree_name_is_taken(tmp_path, monkeypatch):
    install(tmp_path, "greedy", {"NodePorts": "greedy:NodePorts"})
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(
        ValueError, match=r"a plugin named NodePorts already exists.*greedy:NodePorts of greedy 1.5"
    ):
        registry()

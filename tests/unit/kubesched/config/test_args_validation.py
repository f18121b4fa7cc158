"""What plugin arguments may not say."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubesched.config.gates import FeatureGates
from kubesched.config.load import loads
from kubesched.config.problems import ConfigError

HEAD = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
"""


def _cases():
    """(plugin, arguments, field, part of the message) from the table beside this file."""
    text = (Path(__file__).parent / "wrong_arguments.txt").read_text()
    for block in text.strip().split("\n\n")[1:]:
        config, expected = block.split("\n=> ")
        plugin, _, args = config.partition(" ")
        field, _, message = expected.partition(": ")
        yield pytest.param(plugin, args, field, message, id=f"{plugin}: {field}: {message}")


@pytest.mark.parametrize(("plugin", "args", "field", "message"), list(_cases()))
def test_the_wrong_argument_is_named(plugin, args, field, message):
    with pytest.raises(ConfigError) as caught:
        loads(f"{HEAD}  - name: {plugin}\n    args: {args}\n")
    found = {problem.field: problem for problem in caught.value.problems}
    problem = found[f"profiles[0].pluginConfig[0].args.{field}"]
    assert message in problem.message
    assert problem.line == 6


@pytest.mark.parametrize("field", ["filterTimeout", "bindingTimeout"])
def test_a_timeout_without_its_feature_is_refused(field):
    gates = FeatureGates({"DRASchedulerFilterTimeout": False, "DRADeviceBindingConditions": False})
    with pytest.raises(ConfigError, match=f"{field}: Forbidden"):
        loads(f"{HEAD}  - name: DynamicResources\n    args: {{{field}: 5s}}\n", gates=gates)


def test_plugins_named_twice_in_plugin_config_are_refused():
    with pytest.raises(ConfigError, match='Duplicate value: "VolumeBinding"'):
        loads(f"{HEAD}  - name: VolumeBinding\n  - name: VolumeBinding\n")

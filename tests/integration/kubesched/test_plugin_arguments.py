"""Wrong plugin arguments: the same field and the same words from both schedulers."""

from __future__ import annotations

import re
import subprocess

import pytest
from tests.integration.kubesched.side_by_side import documented, table
from tests.integration.kubesched.test_written_configurations import KUBECONFIG
from tests.unit.kubesched.config.test_args_validation import _cases

from kubesched.config.load import loads
from kubesched.config.problems import ConfigError
from schedlab.cluster.tools import find

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]

HEAD = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {{kubeconfig: {kubeconfig}}}
profiles:
- pluginConfig:
  - name: {plugin}
    args: {args}
"""
_PLACE = re.compile(r"^\S+?:\d+:\d+: ", re.MULTILINE)


def test_wrong_arguments_are_refused_in_like_words(tmp_path):
    """Everything that is wrong with the arguments of a plugin, one after the other."""
    program = find(["kube-scheduler"]).path("kube-scheduler")
    kubeconfig, file = tmp_path / "kubeconfig", tmp_path / "config.yaml"
    kubeconfig.write_text(KUBECONFIG)
    rows = []
    for case in _cases():
        plugin, args, _, _ = case.values
        file.write_text(HEAD.format(kubeconfig=kubeconfig, plugin=plugin, args=args))
        argv = [program, f"--config={file}", "--secure-port=0"]
        run = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
        assert run.returncode == 1, (plugin, args)
        ours = refusal(file.read_text())
        theirs = error(run.stdout + run.stderr)
        rows.append((plugin, f"`{args}`", theirs, "equal" if ours == theirs else ours))
    documented(
        "wrong-plugin-arguments.md",
        "Wrong plugin arguments",
        {"Both exit with 1": table(["plugin", "arguments", "kube-scheduler", "kubesched"], rows)},
    )


def refusal(text: str) -> str:
    """What kubesched says, without lines and columns."""
    with pytest.raises(ConfigError) as caught:
        loads(text, source="config.yaml")
    found = [_PLACE.sub("", line) for line in str(caught.value).splitlines()]
    return found[0] if len(found) == 1 else f"[{', '.join(found)}]"


def error(output: str) -> str:
    """The text of the error that ended kube-scheduler."""
    several = re.findall(r'"command failed" err=<\n(.*?)\n >', output, re.DOTALL)
    if several:
        return " ".join(line.strip() for line in several[-1].splitlines())
    return re.findall(r'"command failed" err="((?:[^"\\]|\\.)*)"', output)[-1].replace('\\"', '"')

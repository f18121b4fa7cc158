"""Versions are pinned once; what is built and what is fetched cannot drift from that."""

import re

import pytest

from schedlab.cluster import go_toolchain, versions
from schedlab.cluster.go_toolchain import CONTROL_PLANE
from schedlab.errors import UsageError

GO_MOD = (CONTROL_PLANE / "go.mod").read_text()


@pytest.mark.parametrize(
    ("module", "version"),
    [
        ("k8s.io/kubernetes", versions.KUBERNETES),
        ("go.etcd.io/etcd/server/v3", versions.ETCD),
        ("sigs.k8s.io/kwok", versions.KWOK),
        ("sigs.k8s.io/kind", versions.KIND),
    ],
)
def test_go_mod_pins_the_same_version(module, version):
    """A build from modules gives what `versions` promises."""
    assert re.search(rf"^\t{re.escape(module)} v{re.escape(version)}\b", GO_MOD, re.MULTILINE)


@pytest.mark.parametrize("program", versions.PROGRAMS.values(), ids=lambda program: program.name)
def test_every_program_is_a_tool_of_the_module(program):
    """`go build` finds each package in the pinned module graph."""
    assert f"\t{program.package}\n" in GO_MOD


def test_the_pinned_toolchain_can_build_the_module():
    """The Go of the Python package is at least what go.mod asks for."""
    pinned = tuple(int(part) for part in go_toolchain.pinned().split("."))
    assert pinned >= go_toolchain.required()


def test_the_toolchain_is_pinned_by_digest():
    """pip refuses a package with another content."""
    assert len(re.findall(r"--hash=sha256:[0-9a-f]{64}", go_toolchain.REQUIREMENTS.read_text())) >= 1


def test_asset_variables_are_named_as_envtest_names_them():
    """TEST_ASSET_KUBE_APISERVER, TEST_ASSET_ETCD, TEST_ASSET_KUBECTL are controller-runtime's."""
    names = {versions.PROGRAMS[name].asset_variable for name in ("kube-apiserver", "etcd", "kubectl")}
    assert names == {"TEST_ASSET_KUBE_APISERVER", "TEST_ASSET_ETCD", "TEST_ASSET_KUBECTL"}


def test_an_unknown_program_is_refused_with_the_known_ones():
    """A typo is answered with what there is."""
    with pytest.raises(UsageError, match="no program 'etcdd'") as caught:
        versions.programs(["etcdd"])
    assert "etcd, kube-apiserver" in caught.value.hint

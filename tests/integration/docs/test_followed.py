"""The pages are followed literally, in an empty directory, with nothing of this project but its wheel."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from tests.pages import DOCS, blocks, follow

from schedlab.cluster import tools

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]

ROOT = DOCS.parent
_OURS = ("schedlab", "_editable_impl_schedlab", "pip", "distutils-precedence")
# Everything is in reach already, so no index is asked.
_OFFLINE = {
    "PIP_NO_INDEX": "1",
    "PIP_NO_DEPS": "1",
    "PIP_NO_BUILD_ISOLATION": "0",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
}


TEMPLATE = """
```console
$ kubesched new-plugin RackPower
$ cd rack-power
$ pip install --quiet --editable .
$ python -m pytest -q
$ python -m mypy
$ schedlab test suites --scheduler scheduler.yaml
$ kubesched --config config.yaml --write-config-to written.yaml
```
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """This checkout's wheel."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-build-isolation", "--wheel-dir"]
    subprocess.run(
        [*command, str(folder), str(ROOT)],
        env=os.environ | _OFFLINE,
        check=True,
        capture_output=True,
        timeout=300,
    )
    [made] = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def third_party(tmp_path_factory) -> Path:
    """The packages of others that are installed here, without ours: what an index would give."""
    folder = tmp_path_factory.mktemp("third-party")
    for path in Path(sysconfig.get_paths()["purelib"]).iterdir():
        if not path.name.startswith(_OURS) and path.suffix != ".pth":
            (folder / path.name).symlink_to(path)
    return folder


@pytest.fixture
def environment(tmp_path) -> dict[str, str]:
    """A reader's shell, with the control plane programs in reach."""
    assets, home = tmp_path / "programs", tmp_path / "home"
    assets.mkdir()
    home.mkdir()
    for tool in tools.find():
        (assets / tool.path.name).symlink_to(tool.path)
    return {
        "PATH": f"{assets}:{os.environ['PATH']}",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "KUBEBUILDER_ASSETS": str(assets),
        **_OFFLINE,
    }


@pytest.fixture
def followed(tmp_path, environment, wheel, third_party):
    """Follows a page in an empty directory; new virtual environments reach the packages of others."""

    def run(name: str) -> Path:
        where = tmp_path / "empty"
        where.mkdir()
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        reach = f"echo {third_party} > .venv/lib/python{version}/site-packages/third-party.pth"
        follow(DOCS / name, where, environment | {"WHEEL": str(wheel)}, after={"python3 -m venv": reach})
        return where

    return run


@pytest.fixture
def installed(followed, tmp_path, environment, wheel, third_party):
    """As `followed`, for pages that begin where schedlab is installed already."""
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True, timeout=120)
    [site] = (venv / "lib").glob("python*/site-packages")
    (site / "third-party.pth").write_text(f"{third_party}\n")
    subprocess.run(
        [venv / "bin/python", "-m", "pip", "install", "--quiet", str(wheel)],
        env=os.environ | _OFFLINE, check=True, timeout=120,
    )  # fmt: skip
    environment["PATH"] = f"{venv / 'bin'}:{environment['PATH']}"
    return followed


def test_write_a_plugin(followed):
    where = followed("plugins.md")
    for block in blocks(DOCS / "plugins.md"):
        if block.language == "python":
            assert (where / "power-budget" / block.title).read_text() == block.text
    _pyright(where / "power-budget", where / ".venv/bin/python")


@pytest.mark.parametrize("name", ["ci.md", "pending.md", "upgrade.md"])
def test_a_page(installed, name):
    installed(name)


def test_the_template_is_right_as_it_stands(installed, tmp_path, environment):
    """Its unit tests, types and suite, before anybody has changed a line."""
    where = tmp_path / "empty"
    where.mkdir()
    page = tmp_path / "template.md"
    page.write_text(TEMPLATE)
    follow(page, where, environment)


def _pyright(project: Path, python: Path) -> None:
    """The second type checker agrees; it is a program for Node.js."""
    done = subprocess.run(
        ["npx", "--yes", "pyright@1.1.400", "--pythonpath", str(python), "src", "tests"],
        cwd=project, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    if "0 errors" not in done.stdout and ("ERR" in done.stderr or "npm error" in done.stderr):
        pytest.skip(f"pyright cannot be fetched with npx: {done.stderr[-300:]}")
    assert done.returncode == 0, done.stdout

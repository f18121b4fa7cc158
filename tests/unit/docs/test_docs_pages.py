"""Every page says only what some test has seen."""

from __future__ import annotations

import importlib.util
import os
import re

import pytest
import yaml
from tests.pages import DOCS, blocks

from kubesched.reference.__main__ import PAGES

FOLLOWED = ("plugins.md", "ci.md", "pending.md", "upgrade.md")
_MODULE = re.compile(r"`((?:kubesched|schedlab)\.[a-z_.]+)`")
_LINK = re.compile(r"\]\(([^)#:]+)(?:#([^)]*))?\)")


@pytest.mark.parametrize("name", FOLLOWED)
def test_every_block_is_followed(name):
    """Python and YAML are files that the page's commands use, and shell is typed; the rest is plain text."""
    for block in blocks(DOCS / name):
        assert block.language in {"console", "python", "text", "yaml"}, f"{name}:{block.line}"
        assert block.title or block.language in {"console", "text"}, f"{name}:{block.line}: no title="
        if block.language == "yaml":
            yaml.safe_load(block.text)


def test_the_pipeline_runs_what_the_page_has_tried():
    """Commands of the workflow are the page's own, but for the number of control planes."""
    found = {block.title: block for block in blocks(DOCS / "ci.md")}
    workflow = yaml.safe_load(found[".github/workflows/scheduler.yaml"].text)
    tried = "\n".join(block.text for block in found.values() if block.language == "console")
    tried += "\n".join(block.text for block in blocks(DOCS / "ci.md") if block.language == "console")
    for step in workflow["jobs"]["policy"]["steps"]:
        command = step.get("run", "").removesuffix(" --parallel 2")
        assert not command.startswith("schedlab test") or f"$ {command}\n" in tried


@pytest.mark.parametrize("name", sorted(PAGES))
def test_reference_pages_are_up_to_date(name):
    path = DOCS / f"{name}.md"
    if os.environ.get("KUBESCHED_UPDATE_DOCS"):
        path.write_text(PAGES[name]())
    assert PAGES[name]() == path.read_text(), (
        f"docs/{name}.md is stale: python -m kubesched.reference {name} > docs/{name}.md"
    )


@pytest.mark.parametrize("name", ["architecture.md", "critiques.md"])
def test_every_module_that_is_named_exists(name):
    named = _MODULE.findall((DOCS / name).read_text())
    assert named
    missing = [module for module in named if importlib.util.find_spec(module) is None]
    assert not missing


def test_links_between_pages_lead_somewhere():
    pages = [*DOCS.glob("*.md"), DOCS.parent / "README.md"]
    broken = [
        f"{page.name}: {target}"
        for page in pages
        for target, _ in _LINK.findall(page.read_text())
        if not (page.parent / target).exists()
    ]
    assert not broken

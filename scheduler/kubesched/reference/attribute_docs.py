"""What the text below an assignment says of its name: Python keeps no docstring of a constant or an alias."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from types import ModuleType


def attribute_doc(name: str) -> str:
    """The text below the assignment of a public name, in whichever loaded module of kubesched assigns it."""
    for module_name in sorted(sys.modules):
        if module_name.startswith("kubesched."):
            found = _docs(sys.modules[module_name]).get(name)
            if found:
                return found
    return ""


@cache
def _docs(module: ModuleType) -> dict[str, str]:
    body = ast.parse(inspect.getsource(module)).body
    return {
        name: inspect.cleandoc(after.value.value)
        for before, after in pairwise(body)
        if isinstance(after, ast.Expr)
        and isinstance(after.value, ast.Constant)
        and isinstance(after.value.value, str)
        for name in _assigned(before)
    }


def _assigned(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    else:
        return
    yield from (target.id for target in targets if isinstance(target, ast.Name))

"""`error`: no object has what the test says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from schedlab.history.history import History
from schedlab.operations.assert_ import Exact
from schedlab.operations.base import Assertion, Met, NotYet, Outcome, Scope, TimeoutKind
from schedlab.operations.finding import candidates, title
from schedlab.operations.matching import matches
from schedlab.operations.resources import File, ResourceTree, kinds_of, trees
from schedlab.operations.selecting import refs


class Error(Assertion):
    """There is no object that has everything that is given: the opposite of `assert`.

    It is met as soon as that is so, and then usually at once; say `holds` if it has to stay that way.

    ```yaml
    - error:
        resource: {apiVersion: v1, kind: Pod, metadata: {name: victim}, status: {phase: Failed}}
        holds: 5s
    ```
    """

    tag: ClassVar[str] = "error"
    timeout_kind: ClassVar[TimeoutKind] = "error"

    file: File = None
    resource: ResourceTree = None
    exact: Exact = False

    def check(self, history: History, scope: Scope) -> Outcome:
        """Met if none of the given objects is matched."""
        for wanted in trees(self.file, self.resource, scope):
            for item in candidates(history, scope, wanted.head):
                if matches(wanted.body, item, exact=self.exact, bindings=scope.bindings):
                    return NotYet(
                        f"no {title(wanted.head, scope)} as given",
                        f"{item['metadata']['name']} matches",
                        history.since(item),
                        refs([item]),
                    )
        return Met("no object matches")

    def kinds(self, scope: Scope) -> Sequence[tuple[str, str]]:
        """The kinds of the given objects."""
        return kinds_of(trees(self.file, self.resource, scope))

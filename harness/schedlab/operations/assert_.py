"""`assert`: an object exists and has what the test says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar

from msgspec import Meta

from schedlab.api.objects import Object
from schedlab.history.history import History
from schedlab.operations.base import Assertion, Met, NotYet, Outcome, Scope
from schedlab.operations.finding import candidates, closest, title
from schedlab.operations.resources import File, ResourceTree, kinds_of, trees
from schedlab.operations.selecting import refs

Exact = Annotated[bool, Meta(description="Lists must have the same length and order.")]


class Assert(Assertion):
    """For each given object there is one that has everything it says.

    Matching is partial: what the test does not mention may be anything. Lists match in any order, each
    element with one of its own. With a name it is that object; without, any object of the kind that carries
    the given labels will do. A field that does not exist yet is not there yet: the assertion waits.

    A key in parentheses is an expression about the value it stands in, called `object`; what it gives is
    matched. `~.field` asks each element of a list or mapping, `~i.field` binds its index, and `->name` at the
    end of a key binds what it found for everything below. A backslash makes any key a field's name.

    ```yaml
    - assert:
        resource:
          apiVersion: v1
          kind: Pod
          metadata: {name: trainer}
          status:
            conditions:
            - {type: PodScheduled, status: "True"}
    - assert:
        resource:
          apiVersion: v1
          kind: Pod
          metadata: {name: trainer}
          spec:
            (size(object.containers)): 2
            (object.nodeName in $gpu): true
            ~.containers: {image: trainer}            # each of them
    ```
    """

    tag: ClassVar[str] = "assert"

    file: File = None
    resource: ResourceTree = None
    exact: Exact = False

    def check(self, history: History, scope: Scope) -> Outcome:
        """Met if every given object is matched by one that exists."""
        matched: list[Object] = []
        for wanted in trees(self.file, self.resource, scope):
            what = title(wanted.head, scope)
            found = closest(wanted, candidates(history, scope, wanted.head), scope, exact=self.exact)
            if found is None:
                return NotYet(f"{what} to exist", "there is none")
            item, lacking = found
            if lacking:
                shown = "; ".join(str(mismatch) for mismatch in lacking[:5])
                return NotYet(f"{what} as given", shown, history.since(item), refs([item]))
            matched.append(item)
        return Met(f"{len(matched)} matched", refs(matched))

    def kinds(self, scope: Scope) -> Sequence[tuple[str, str]]:
        """The kinds of the given objects."""
        return kinds_of(trees(self.file, self.resource, scope))

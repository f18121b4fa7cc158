"""`kubectl`: the program itself, `kubectl drain` above all, as something to be observed."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta
from msgspec import field as struct_field

from schedlab.api.objects import Json
from schedlab.operations.base import Action, Env, Never, NotYet, OperationError, TimeoutKind, Unmet


class KubectlOperation(Action):
    """Run kubectl, of the version of the control plane, and judge how it ends and what it says.

    It runs as the administrator, in the test's namespace. `timeout` bounds it (default: `timeouts.assert`);
    one that has not ended by then, or ends with another exit code, fails the test. With `wait: false` it goes
    on beside the operations that follow; `as` then binds its name, with which another `kubectl` waits for it.
    Otherwise `as` binds what it has printed. It is ended with the test.

    ```yaml
    - kubectl: {args: [drain, "($n[0])", --ignore-daemonsets], output: [drained]}
    - kubectl: {args: [drain, "($n[0])", --timeout=2s], exit: 1, output: [global timeout reached]}
    - kubectl: {args: [drain, "($n[0])"], wait: false, as: draining}
    - kubectl: {run: ($draining), timeout: 20s}
    ```
    """

    tag: ClassVar[str] = "kubectl"
    timeout_kind: ClassVar[TimeoutKind] = "assert"
    judges: ClassVar[bool] = True

    args: Annotated[list[str] | None, Meta(description="Its arguments. This or `run`.")] = None
    run_: Annotated[
        str | None, Meta(description="Wait for this one, which was started with `wait: false`.")
    ] = struct_field(default=None, name="run")
    wait: Annotated[bool, Meta(description="Wait until it has ended.")] = True
    exit: Annotated[int, Meta(description="The exit code that it must end with.")] = 0
    output: Annotated[list[str], Meta(description="Texts that it must have printed by then.")] = struct_field(
        default_factory=list
    )

    async def run(self, env: Env, seconds: float) -> Json:
        """Start it, and wait for its end unless told otherwise."""
        if (self.args is None) == (self.run_ is None):
            raise OperationError("give either `args` or `run`", hint="one of the two, not both")
        name = self.run_ if self.run_ is not None else env.kubectl.start(self.args or [])
        if not self.wait:
            return name
        code, output = await env.kubectl.finished(name, seconds)
        self._judge(name, code, output)
        return output

    def _judge(self, name: str, code: int | None, output: str) -> None:
        expected = f"kubectl {' '.join(self.args or [name])} to end with exit code {self.exit}"
        if code is None:
            raise Unmet(NotYet(expected, f"it still runs; it has printed: {output.strip()}"))
        if code != self.exit:
            raise Unmet(Never(expected, f"exit code {code}: {output.strip()}"))
        for text in self.output:
            if text not in output:
                raise Unmet(Never(f"{expected} and to print {text!r}", output.strip()))

"""`command` and `script`: programs beside the test, for what no operation does."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from msgspec import Meta, Struct
from msgspec import field as struct_field

from schedlab.api.objects import Json
from schedlab.operations.base import Action, Env, Finished, Never, TimeoutKind, Unmet
from schedlab.operations.matching import mismatches
from schedlab.suite.check import VARIABLES
from schedlab.suite.trees import SUBJECT

_SHOWN = 2000


class Variable(Struct, forbid_unknown_fields=True, frozen=True):
    """A variable of a program's environment."""

    name: str
    value: str


class Program(Action, kw_only=True):
    """What the two have in common."""

    timeout_kind: ClassVar[TimeoutKind] = "exec"

    env: Annotated[list[Variable], Meta(description="More variables: `[{name: …, value: …}]`.")] = (
        struct_field(default_factory=list)
    )
    check: Annotated[
        dict[str, Any] | None,
        Meta(
            description="An assertion tree about `stdout`, `stderr`, `exitCode` and `error`, which are also "
            "`$stdout`, `$stderr` and `$error`. By default: exit code 0.",
            extra={VARIABLES: tuple(SUBJECT)},
        ),
    ] = None

    @abstractmethod
    def argv(self) -> Sequence[str]:
        """What is run."""
        raise NotImplementedError

    async def run(self, env: Env, seconds: float) -> Json:
        """Run it and judge what came of it."""
        variables = {variable.name: variable.value for variable in self.env}
        done = await env.programs.run(self.argv(), variables, seconds)
        error = None if done.code == 0 else f"exit code {done.code}"
        answer = {"stdout": done.stdout, "stderr": done.stderr, "exitCode": done.code, "error": error}
        what = f"{self.tag} {' '.join(self.argv())[:200]}"
        env.note(f"{what}: exit code {done.code}\n{_printed(done)}".rstrip())
        wanted = {"exitCode": 0} if self.check is None else self.check
        lacking = list(mismatches(wanted, answer, bindings={**env.scope.bindings, **answer}))
        if lacking:
            shown = "; ".join(str(mismatch) for mismatch in lacking[:5])
            raise Unmet(Never(f"{self.tag} to end as it should", f"{shown}; {_printed(done)}".rstrip("; ")))
        return answer


class Command(Program, kw_only=True):
    """Run a program with arguments, without a shell; only with `--allow-scripts`.

    It runs in the test's folder with a clean environment: PATH with the control plane's own kubectl first,
    KUBECONFIG of an administrator, NAMESPACE. It is killed with all its children when `timeout` is over
    (default: `timeouts.exec`, 5s). `as` binds `stdout`, `stderr`, `exitCode` and `error`.

    ```yaml
    - command:
        entrypoint: kubectl
        args: [get, pods, -o, name]
        check: {($stdout.contains('trainer')): true}
    ```
    """

    tag: ClassVar[str] = "command"

    entrypoint: Annotated[str, Meta(description="The program.")]
    args: Annotated[list[str], Meta(description="Its arguments, each passed as it is.")] = struct_field(
        default_factory=list
    )

    def argv(self) -> Sequence[str]:
        """The program and its arguments."""
        return [self.entrypoint, *self.args]


class Script(Program, kw_only=True):
    """Run a shell script; only with `--allow-scripts`.

    As `command` otherwise, and with `sh -e`, so that the first command that fails ends it.

    ```yaml
    - script:
        content: |
          kubectl label node "$FIRST" pool=gpu
        env: [{name: FIRST, value: ($n[0])}]
        timeout: 10s
    ```
    """

    tag: ClassVar[str] = "script"

    content: Annotated[str, Meta(description="The script.")]

    def argv(self) -> Sequence[str]:
        """The shell with the script."""
        return ["sh", "-e", "-c", self.content]


def _printed(done: Finished) -> str:
    """What a program has printed, shortened."""
    parts = {"stdout": done.stdout, "stderr": done.stderr}
    return "\n".join(f"{name}: {text.strip()[-_SHOWN:]}" for name, text in parts.items() if text.strip())

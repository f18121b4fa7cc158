"""Health checks, as text and status code, in the API machinery's form.

`/healthz`, `/livez` and `/readyz` run named checks; `?verbose` shows each, `?exclude=` leaves one out, and
`/readyz/NAME` asks a single one. Follows `apiserver/pkg/server/healthz/healthz.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

# A check answers None, or what is wrong.
Check = Callable[[], str | None]


def ping() -> str | None:
    """The process answers."""
    return None


@dataclass(slots=True)
class Health:
    """The state that the checks look at, and the checks of each endpoint."""

    synced: bool = False
    shutting_down: bool = False
    extra: dict[str, Check] = field(default_factory=dict)
    results: dict[tuple[str, str, str], int] = field(default_factory=dict)
    latest: dict[tuple[str, str], bool] = field(default_factory=dict)

    def ask(self, endpoint: str, name: str, check: Check) -> bool:
        """Whether a check passes; what came of it is kept for /metrics/slis, except for `ping`."""
        passed = check() is None
        if check is not ping:
            key = name, endpoint, "success" if passed else "error"
            self.results[key] = self.results.get(key, 0) + 1
            self.latest[name, endpoint] = passed
        return passed

    def checks(self, endpoint: str) -> Mapping[str, Check]:
        """The checks of `healthz`, `livez` or `readyz` in their order."""
        if endpoint == "livez":
            return {"ping": ping}
        if endpoint == "healthz":
            return {"ping": ping, **self.extra}
        return {
            **self.extra,
            "shutdown": lambda: "process is shutting down" if self.shutting_down else None,
            "sched-handler-sync": lambda: None if self.synced else "handlers are not fully synchronized",
        }


def answer(health: Health, endpoint: str, *, verbose: bool, excluded: Sequence[str] = ()) -> tuple[int, str]:
    """The status code and body for a request to an endpoint."""
    checks = health.checks(endpoint)
    lines: list[str] = []
    failed: list[str] = []
    unknown = [name for name in excluded if name not in checks]
    for name, check in checks.items():
        if name in excluded:
            lines.append(f"[+]{name} excluded: ok")
        elif health.ask(endpoint, name, check):
            lines.append(f"[+]{name} ok")
        else:
            lines.append(f"[-]{name} failed: reason withheld")
            failed.append(name)
    if unknown:
        listed = ", ".join(f'"{name}"' for name in unknown)
        lines.append(f"warn: some health checks cannot be excluded: no matches for {listed}")
    if failed:
        return 500, "\n".join([*lines, f"{endpoint} check failed", ""])
    if not verbose:
        return 200, "ok"
    return 200, "\n".join([*lines, f"{endpoint} check passed", ""])


def answer_one(health: Health, endpoint: str, name: str) -> tuple[int, str]:
    """The answer of a single check; why it failed is for the log, not for strangers."""
    passed = health.ask(endpoint, name, health.checks(endpoint)[name])
    return (200, "ok") if passed else (500, "internal server error: reason withheld\n")

"""The answer as a table for people: one line per node, scores or the reason against it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kubesched.explain.explanation import Explanation, Feasible, Infeasible


def table(answer: Explanation) -> str:
    """The answer in plain text; the best nodes come first, marked with an asterisk."""
    lines = [f"Pod {answer.pod}: {answer.result}"]
    if answer.message:
        lines.append(answer.message)
    feasible = {name: node for name, node in answer.nodes.items() if isinstance(node, Feasible)}
    rejected = {name: node for name, node in answer.nodes.items() if isinstance(node, Infeasible)}
    if feasible:
        lines += ["", *_aligned(_score_rows(feasible, answer.selected))]
    if rejected:
        rows = [(name, node.plugin, ", ".join(node.reasons)) for name, node in rejected.items()]
        lines += ["", *_aligned([("NODE", "REJECTED BY", "REASONS"), *rows])]
    if answer.preemption is not None and answer.preemption.candidates:
        best = set(answer.preemption.best)
        candidates = [
            (f"{'*' if name in best else ' '} {name}", ", ".join(victims))
            for name, victims in answer.preemption.candidates.items()
        ]
        lines += ["", *_aligned([("  PREEMPTION ON", "VICTIMS"), *candidates])]
    if answer.unasked:
        lines += ["", f"Not asked, and they may decide otherwise: extenders {', '.join(answer.unasked)}"]
    return "\n".join(lines) + "\n"


def _score_rows(nodes: dict[str, Feasible], selected: Sequence[str]) -> Iterator[Sequence[str]]:
    plugins = list(dict.fromkeys(plugin for node in nodes.values() for plugin in node.scores))
    yield ("  NODE", "TOTAL", *plugins)
    for name, node in sorted(nodes.items(), key=lambda item: -item[1].total):
        mark = "*" if name in selected else " "
        yield (f"{mark} {name}", str(node.total), *(str(node.scores.get(plugin, "")) for plugin in plugins))


def _aligned(rows: Iterable[Sequence[str]]) -> list[str]:
    cells = list(rows)
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    padded = ([cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in cells)
    return ["  ".join(row).rstrip() for row in padded]

// One decision as a map of nodes by plugins: how much each plugin gave each node, and who refused it.

function heatRow(row, plugins, most) {
  const refusal = row.reasons.join("; ");
  const cells = plugins.map((plugin) => {
    if (row.plugin === plugin) return el("td", { class: "no", title: refusal }, "✕");
    const score = row.scores[plugin];
    if (score === undefined) return el("td");
    const share = most.get(plugin) ? Math.round((75 * score) / most.get(plugin)) : 0;
    return el("td", { class: "score", "--share": `${share}%` }, String(score));
  });
  const outcome = row.chosen ? "✓ best" : refusal || (row.refused ? "refused" : "");
  const node = el("th", { scope: "row" }, named(row.node, { title: row.node }));
  const total = td("number", row.total === null ? "" : String(row.total));
  return el("tr", { class: row.chosen && "chosen" }, node, cells, total, td("text", outcome));
}

function heatMap(verdict) {
  const { rows } = verdict;
  const scored = rows.flatMap((row) => [...Object.keys(row.scores), row.plugin]);
  const plugins = [...new Set(scored.filter(Boolean))].sort();
  const highest = (plugin) => Math.max(0, ...rows.map((row) => row.scores[plugin] ?? 0));
  const most = new Map(plugins.map((plugin) => [plugin, highest(plugin)]));
  const heads = plugins.map((plugin) => th("", named(plugin)));
  const head = [th("plain", "node"), heads, th("number plain", "total"), th("plain")];
  const message = verdict.message ? [", ", named(verdict.message)] : "";
  const source = [dim(" — "), named(verdict.source, { class: "dim" })];
  return [
    el("p", {}, named(verdict.pod), `: ${verdict.result}`, message, source),
    rows.length ? table(head, rows.map((row) => heatRow(row, plugins, most)), "heat") : "",
    verdict.more ? el("p", { class: "dim" }, `${plural(verdict.more, "node")} more`) : "",
  ];
}

/** The decisions of a test, one at a time. */
function decisions(verdicts) {
  const place = el("div");
  const show = (number) => place.replaceChildren(...heatMap(verdicts[number]));
  const options = verdicts.map((verdict, number) => {
    return el("option", { value: number }, `${verdict.pod} (${verdict.source})`);
  });
  const choice = el("select", { "aria-label": "Decision", onchange: () => show(Number(choice.value)) }, options);
  show(0);
  return [el("h4", {}, "Decisions, nodes by plugins"), verdicts.length > 1 ? choice : "", place];
}

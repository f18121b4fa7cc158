// One test: the evidence of each scheduler, one below the other.

const line = (label, text) => (text ? [el("dt", {}, label), el("dd", {}, named(text))] : []);

function evidence(result) {
  const { failure, verdict } = result;
  if (verdict === "pass") return "";
  const left = line("left behind", result.leftovers.join(", "));
  const kind = verdict === "inconclusive" ? "evidence inconclusive" : "evidence";
  if (!failure?.expected) {
    const why = line("why", result.reason || failure?.message);
    return el("dl", { class: kind }, line("where", failure?.position), why, left);
  }
  const unclear = verdict === "inconclusive" ? line("inconclusive", result.reason) : [];
  return el(
    "dl",
    { class: kind },
    line("where", `${failure.position}, ${failure.operation} in step “${failure.step}”`),
    line("expected", failure.expected),
    line("seen", failure.seen),
    line("since", failure.since),
    line("waited", seconds(failure.waited)),
    failure.events.map((event) => line("event", event)),
    left,
    unclear,
  );
}

function command(label, text) {
  const said = el("span", { class: "dim", role: "status" });
  const tell = (words) => said.replaceChildren(words);
  const refused = () => tell("select the text to copy it");
  const copy = () => navigator.clipboard.writeText(text).then(() => tell("copied"), refused);
  const button = el("button", { type: "button", onclick: copy }, "Copy");
  return el("div", { class: "command" }, dim(label), el("code", { tabindex: 0 }, text), button, said);
}

function steps(operations) {
  const row = (one) => [
    td("", named(one.step), one.block === "try" ? "" : dim(` ${one.block}`)),
    td("", one.operation),
    td(one.outcome === "ok" ? "pass" : "fail", one.outcome),
    td("number", seconds(one.seconds)),
    td("text", named(one.detail)),
    td("mono", one.position.replace(/^.*\//, "")),
  ];
  const head = ["step", "operation", "", "took", "seen", "at"].map((text) => th("", text));
  const body = () => table(head, operations.map((one) => el("tr", {}, row(one))));
  return folded(`Steps (${plural(operations.length, "operation")})`, body);
}

function events(notes) {
  const row = (one) => [
    td("number", seconds(one.at)),
    td(one.type === "Warning" ? "flaky" : "", one.reason),
    td("", named(one.about)),
    td("text", named(one.text), one.count > 1 ? ` (×${one.count})` : ""),
  ];
  const head = [th("number", "at"), th("", "reason"), th("", "about"), th("", "note")];
  return folded(`Events (${notes.length})`, () => table(head, notes.map((one) => el("tr", {}, row(one)))));
}

function heading(result, scheduler) {
  const attempt = result.attempts > 1 ? `, attempt ${result.attempts}` : "";
  const mutation = result.mutation ? [", ", named(result.mutation)] : "";
  const verdict = verdictOf(result.verdict, Boolean(result.mutation));
  return el("header", {}, el("h3", {}, named(scheduler)), verdict, dim(seconds(result.seconds), attempt, mutation));
}

function side(detail, scheduler) {
  const { result, story } = detail;
  const time = timeline(story);
  const left = Object.entries(story.omitted).map(([kind, count]) => `${count} ${kind}`).join(", ");
  const notes = () => el("div", {}, result.notes.map((note) => el("pre", {}, named(note))));
  const reason = result.verdict === "pass" && result.reason;
  return el(
    "article",
    { class: "side", "aria-label": scheduler },
    heading(result, scheduler),
    reason ? el("p", {}, named(reason)) : "",
    evidence(result),
    result.notes.length ? folded("What was noted", notes, result.verdict !== "pass") : "",
    command("rerun", detail.rerun),
    detail.replay ? command("ask the reference", detail.replay) : "",
    detail.files ? el("p", { class: "dim" }, "files: ", named(detail.files, { class: "mono" })) : "",
    story.machines.length ? racks(story, time.show) : "",
    story.verdicts.length ? decisions(story.verdicts) : "",
    story.length ? time.parts : "",
    result.operations.length ? steps(result.operations) : "",
    story.notes.length ? events(story.notes) : "",
    left ? el("p", { class: "dim" }, `Not drawn, since it is too much: ${left}.`) : "",
  );
}

function flakeOf(flake) {
  const counts = Object.entries(flake.verdicts).map(([verdict, count]) => `${count} ${verdict}`).join(", ");
  const runs = flake.others.map((run) => `#${run}`).join(", ");
  return el("p", { class: "flaky" }, named(flake.scheduler), `: ${counts}; not passed: ${runs}`);
}

async function testDetail(one, index) {
  const details = await Promise.all(one.cells.map((cell) => cell && unpacked(cell.detail)));
  const sides = details.map((detail, position) => detail && side(detail, index.schedulers[position]));
  const claim = details.find(Boolean).story.description;
  return el(
    "div",
    {},
    el("p", { id: "back" }, el("a", { href: "#" }, "← all tests")),
    el("h2", {}, named(one.test)),
    claim ? el("p", {}, named(claim)) : "",
    index.flakes.filter((flake) => flake.test === one.test).map(flakeOf),
    el("div", { class: "sides" }, sides),
  );
}

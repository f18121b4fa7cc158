// Racks of machines with the pods that are on them, at one moment of the test.

const MOST_CHIPS = 12;
const MOST_NAMES = 20;

/** A letter and a colour for each job, in the order in which the jobs came. */
function jobsOf(guests) {
  const jobs = new Map();
  for (const { job } of guests) {
    if (jobs.has(job)) continue;
    const place = jobs.size;
    const letter = String.fromCharCode(65 + (place % 26)) + (place < 26 ? "" : Math.floor(place / 26));
    jobs.set(job, { letter, hue: Math.round((210 + place * 137.5) % 360) });
  }
  return jobs;
}

const lasts = (one, at) => one.until === null || one.until > at;
const present = (one, at) => one.since <= at && lasts(one, at);
const placed = (guest, at) => guest.bound !== null && guest.bound <= at && lasts(guest, at);
const all = (counts) => sum(Object.values(counts), (count) => count);
const short = (resource) => resource.slice(resource.indexOf("/") + 1).replace(/^mig-/, "");

/** One kind of accelerator of a machine: a slot each, with whoever has it. */
function slots(machine, resource, guests, jobs, at) {
  const most = machine.slots[resource];
  const room = machine.room.filter((one) => one.since <= at).pop();
  const usable = room?.slots[resource] ?? 0;
  const taken = guests.flatMap((guest) => Array(guest.takes[resource] ?? 0).fill(guest));
  const cells = taken.slice(0, most).map((guest, place) => {
    const kind = taken[place - 1] === guest ? "slot job" : "slot job first";
    const job = jobs.get(guest.job);
    return el("span", { class: kind, "--hue": job.hue, title: `${guest.name} (${guest.job})` }, job.letter);
  });
  for (let place = cells.length; place < most; place++) {
    const broken = place >= usable;
    const title = broken ? "not allocatable" : "free";
    cells.push(el("span", { class: broken ? "slot broken" : "slot", title }));
  }
  const over = taken.length - most;
  if (over > 0) cells.push(el("span", { class: "slot over", title: "more is promised than there is" }, `+${over}`));
  const several = Object.keys(machine.slots).length > 1;
  return [several ? el("span", { class: "kind" }, short(resource)) : "", cells];
}

function tray(machine, guests, jobs, at) {
  const shut = machine.shut.find((span) => present(span, at))?.text ?? "";
  const others = guests.filter((guest) => all(guest.takes) === 0);
  const chips = others.slice(0, MOST_CHIPS).map((guest) => chip(guest.name, jobs.get(guest.job).hue));
  if (others.length > MOST_CHIPS) chips.push(dim(` and ${others.length - MOST_CHIPS} more`));
  const said = guests.map((guest) => `${guest.name} (${all(guest.takes)})`).join(", ") || "empty";
  const kinds = ["tray", shut && "shut", !present(machine, at) && "gone"].filter(Boolean).join(" ");
  const title = [machine.name, machine.model, shut].filter(Boolean).join(", ");
  const resources = Object.keys(machine.slots).sort();
  return el(
    "div",
    { class: kinds, role: "listitem", "aria-label": `${title}: ${said}` },
    named(machine.name, { title }),
    el("div", { class: "slots" }, resources.map((one) => slots(machine, one, guests, jobs, at)), chips),
    shut ? dim(shut) : "",
  );
}

function rack(name, machines, byNode, jobs, at) {
  const there = machines.filter((machine) => present(machine, at));
  const total = sum(there, (machine) => all(machine.slots));
  const used = sum(there, (machine) => sum(byNode.get(machine.name) ?? [], (guest) => all(guest.takes)));
  const models = [...new Set(machines.map((machine) => machine.model))];
  const model = models.length === 1 && models[0] ? ` ${models[0]}` : "";
  const title = el("p", {}, named(name || "machines"), dim(model, total ? ` · ${used} of ${total} taken` : ""));
  const trays = machines.map((machine) => tray(machine, byNode.get(machine.name) ?? [], jobs, at));
  return el("div", { class: "rack" }, title, el("div", { role: "list" }, trays));
}

function legend(guests, jobs, at) {
  const here = guests.filter((guest) => present(guest, at));
  const entries = [...groups(here, (guest) => guest.job)].slice(0, 30).map(([job, some]) => {
    const { letter, hue } = jobs.get(job);
    return el("span", {}, chip(letter, hue, job), " ", named(job), dim(" ", plural(some.length, "pod")));
  });
  const waiting = here.filter((guest) => !placed(guest, at));
  const names = waiting.slice(0, MOST_NAMES).map((guest) => [" ", chip(guest.name, jobs.get(guest.job).hue)]);
  const rest = waiting.length > MOST_NAMES ? ` and ${waiting.length - MOST_NAMES} more` : "";
  const queue = waiting.length ? el("span", {}, el("b", {}, "waiting:"), names, rest) : "";
  return el("div", { class: "legend" }, entries, queue);
}

/** The racks, and the slider over time; `moved` hears of each moment that is looked at. */
function racks(story, moved) {
  const { guests, machines } = story;
  const jobs = jobsOf(guests);
  const standing = [...groups(machines, (machine) => machine.rack)];
  const picture = el("div");
  const clock = el("output", { class: "mono" });
  const range = { type: "range", min: 0, max: story.length, step: 0.001, value: story.end };
  const slider = el("input", { ...range, "aria-label": "Moment of the test, in seconds", oninput: show });
  const moments = guests.flatMap((guest) => [guest.bound, guest.until]).filter((at) => at !== null);
  const changes = [...new Set(moments)].sort((a, b) => a - b);

  function show() {
    const at = Number(slider.value);
    const byNode = groups(guests.filter((guest) => placed(guest, at)), (guest) => guest.node);
    const drawn = standing.map(([name, some]) => rack(name, some, byNode, jobs, at));
    clock.value = seconds(at);
    picture.replaceChildren(el("div", { class: "racks" }, drawn), legend(guests, jobs, at));
    moved(at);
  }

  function jump(label, text, find) {
    const go = () => {
      slider.value = find(Number(slider.value)) ?? slider.value;
      show();
    };
    return el("button", { type: "button", "aria-label": label, title: label, onclick: go }, text);
  }

  const back = jump("Previous change", "◀", (at) => changes.findLast((one) => one < at - 0.0005));
  const on = jump("Next change", "▶", (at) => changes.find((one) => one > at + 0.0005));
  show();
  return [el("h4", {}, "Placements"), el("div", { class: "controls" }, back, slider, on, clock), picture];
}

// Elements are made of text and attributes only, never of markup: a name that looks like HTML stays a name.

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key.startsWith("--")) element.style.setProperty(key, value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== ""));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";
const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const draw = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
const dim = (...children) => el("span", { class: "dim" }, ...children);
const td = (kind, ...children) => el("td", { class: kind }, ...children);
const th = (kind, ...children) => el("th", { class: kind, scope: "col" }, ...children);

/** A name from outside: it may be written from right to left, and must not turn what stands beside it. */
const named = (text, attributes = {}) => el("bdi", attributes, text);

/** A name where there may be no room for all of it. */
const chip = (text, hue, title = text) => el("bdi", { class: "chip", "--hue": hue, title }, text);

const seconds = (value) => `${value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2)} s`;
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
const sum = (items, number) => items.reduce((total, item) => total + number(item), 0);

function groups(items, key) {
  const found = new Map();
  for (const item of items) {
    const group = found.get(key(item));
    if (group) group.push(item);
    else found.set(key(item), [item]);
  }
  return found;
}

const VERDICTS = ["fail", "inconclusive", "flaky", "pass"];
const GLYPHS = { pass: "✓", fail: "✕", flaky: "~", inconclusive: "?" };
const MUTANTS = { pass: "sensitive", fail: "insensitive", inconclusive: "unclear" };

/** A verdict in words; a run of mutants has words of its own. */
function verdictOf(verdict, mutated = false) {
  const word = (mutated && MUTANTS[verdict]) || verdict;
  return el("span", { class: verdict }, `${GLYPHS[verdict]} ${word}`);
}

function table(head, rows, kind = "") {
  const parts = [el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows)];
  return el("div", { class: "scroll", tabindex: 0 }, el("table", { class: kind }, parts));
}

/** A part that is made when it is first opened. */
function folded(title, make, open = false) {
  const box = el("details", {}, el("summary", {}, title));
  const render = () => box.open && box.childElementCount === 1 && box.append(make());
  box.addEventListener("toggle", render);
  box.open = open;
  render();
  return box;
}

async function unpacked(id) {
  const packed = atob(document.getElementById(id).textContent);
  const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

// The timeline: pods that wait, and a lane for each kind of thing that happened.

const WIDTH = 1000;
const LEFT = 112;
const LANE = 19;
const QUEUE = 44;
const LETTER = 6.2;
const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600];

const clipped = (text, room) => (text.length > room ? text.slice(0, room - 1) + "…" : text);

/** How many pods waited, as a staircase. */
function staircase(guests, x, length) {
  const changes = guests.flatMap((guest) => {
    const left = Math.min(guest.bound ?? Infinity, guest.until ?? Infinity);
    return left < Infinity ? [[guest.since, 1], [left, -1]] : [[guest.since, 1]];
  });
  changes.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  let count = 0;
  const steps = changes.map(([at, change]) => [at, (count += change)]);
  const most = Math.max(1, ...steps.map(([, waiting]) => waiting));
  const y = (waiting) => QUEUE - (QUEUE - 8) * (waiting / most);
  const corners = steps.map(([at, waiting]) => `H${x(at)}V${y(waiting)}`).join("");
  const path = `M${x(0)},${y(0)}${corners}H${x(length)}V${y(0)}Z`;
  const label = draw("text", { x: LEFT - 8, y: QUEUE - 2, "text-anchor": "end" }, `waiting (max ${most})`);
  return [draw("path", { d: path, class: "queue" }), label];
}

function ruler(x, length, height) {
  const step = STEPS.find((one) => length / one <= 10) ?? length / 10;
  const moments = Array.from({ length: Math.floor(length / step) + 1 }, (_, number) => number * step);
  return moments.map((at) => [
    draw("line", { x1: x(at), x2: x(at), y1: 4, y2: height - 16, class: "grid" }),
    draw("text", { x: x(at), y: height - 3, "text-anchor": "middle" }, `${Number(at.toFixed(1))} s`),
  ]);
}

function markOf(mark, x, top) {
  const until = mark.until === null ? "" : `–${seconds(mark.until)}`;
  const title = draw("title", {}, `${seconds(mark.at)}${until}  ${mark.text}`);
  if (mark.until === null) {
    return draw("circle", { cx: x(mark.at), cy: top + LANE / 2, r: 3.6, class: mark.lane }, title);
  }
  const width = Math.max(2, x(mark.until) - x(mark.at));
  const room = Math.floor(width / LETTER);
  const bar = { x: x(mark.at), y: top + 2, width, height: LANE - 4, rx: 2, class: "band" };
  const text = draw("text", { x: x(mark.at) + 4, y: top + LANE - 6 }, clipped(mark.text, room));
  return draw("g", {}, title, draw("rect", bar), room > 2 ? text : "");
}

function marksTable(marks) {
  const sorted = [...marks].sort((a, b) => a.at - b.at);
  const cells = (mark) => [td("number", seconds(mark.at)), td("", named(mark.lane)), td("text", named(mark.text))];
  return table([th("number", "at"), th("", "what"), th("")], sorted.map((mark) => el("tr", {}, cells(mark))));
}

/** The picture, and a function that shows a moment in it. */
function timeline(story) {
  const { marks, guests } = story;
  const length = Math.max(story.length, 0.001);
  const lanes = [...new Set(marks.map((mark) => mark.lane))];
  const x = (at) => LEFT + (Math.min(Math.max(at, 0), length) / length) * (WIDTH - LEFT - 24);
  const top = (lane) => QUEUE + 6 + lanes.indexOf(lane) * LANE;
  const height = QUEUE + 28 + lanes.length * LANE;
  const now = draw("line", { y1: 4, y2: height - 16, class: "now" });
  const labels = lanes.map((lane) => {
    const place = { x: LEFT - 8, y: top(lane) + LANE - 6, "text-anchor": "end" };
    return draw("text", place, draw("title", {}, lane), clipped(lane, 16));
  });
  const drawn = marks.map((mark) => markOf(mark, x, top(mark.lane)));
  const about = { class: "timeline", role: "img", "aria-label": "Timeline; the same as a table follows" };
  const parts = [ruler(x, length, height), staircase(guests, x, length), labels, drawn, now];
  const picture = draw("svg", { viewBox: `0 0 ${WIDTH} ${height}`, ...about }, parts);
  const list = folded(`as a table (${marks.length})`, () => marksTable(marks));
  const show = (at) => fill(now, { x1: x(at), x2: x(at) }, []);
  const scroll = el("div", { class: "scroll", tabindex: 0 }, picture);
  return { parts: [el("h4", {}, "Timeline"), scroll, list], show };
}

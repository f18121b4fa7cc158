// The page: totals, theme, and which test is open, which its address says.

function totals(index, tests) {
  const counted = index.schedulers.map((scheduler, position) => {
    const cells = tests.map((one) => one.cells[position]).filter(Boolean);
    const counts = groups(cells, (cell) => cell.verdict);
    const found = VERDICTS.filter((verdict) => counts.has(verdict));
    const parts = found.map((verdict) => {
      return el("span", { class: verdict }, ` ${GLYPHS[verdict]} ${counts.get(verdict).length} ${verdict}`);
    });
    return el("span", {}, el("b", {}, named(scheduler)), parts);
  });
  const differing = tests.filter((one) => one.differs).length;
  if (index.schedulers.length < 2) return counted;
  const word = differing ? `the schedulers differ in ${plural(differing, "test")}` : "no difference";
  return [...counted, el("span", { class: differing ? "fail" : "dim" }, word)];
}

function titleOf(index) {
  const mode = index.mutated ? "sensitivity" : "";
  const merged = index.shards > 1 ? `${plural(index.shards, "run")} merged` : "";
  return [mode, plural(index.tests.length, "test"), seconds(index.seconds), merged].filter(Boolean).join(" · ");
}

function switchTheme() {
  const { style } = document.documentElement;
  const prefers = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  style.colorScheme = (style.colorScheme || prefers) === "dark" ? "light" : "dark";
}

function main() {
  const byId = (id) => document.getElementById(id);
  const index = JSON.parse(byId("index").textContent);
  index.mutated = index.mode === "sensitivity";
  const list = testList(index, byId("list"), byId("filters"));
  const detail = byId("detail");
  let place = 0;

  async function open() {
    const test = location.hash.startsWith("#test=") ? decodeURIComponent(location.hash.slice(6)) : "";
    const one = list.find(test);
    const { classList } = document.body;
    if (one && !classList.contains("open")) place = scrollY;
    classList.toggle("open", Boolean(one));
    for (const row of document.querySelectorAll(".row")) {
      if (row.getAttribute("href") === location.hash) row.setAttribute("aria-current", "page");
      else row.removeAttribute("aria-current");
    }
    const missing = test && !one ? el("p", { class: "fail" }, "There is no test ", named(test), ".") : "";
    detail.replaceChildren(...(one ? [await testDetail(one, index)] : missing ? [missing] : []));
    scrollTo(0, one ? 0 : place);
    if (one) detail.focus({ preventScroll: true });
  }

  byId("mode").textContent = titleOf(index);
  byId("totals").append(...totals(index, list.tests));
  byId("theme").addEventListener("click", switchTheme);
  addEventListener("hashchange", open);
  list.render();
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", open);
  else open();
}

main();

// The list: areas that open, rows that are made when they are looked at, filters over all of them.

const CHUNK = 200;

/** A test as the list knows it: its name, its area, and a cell per scheduler, null where it did not run. */
function listed([test, cells]) {
  const slash = test.indexOf("/");
  const ran = cells.filter(Boolean);
  const differs = new Set(ran.map((cell) => cell.verdict)).size > 1;
  return { test, cells, ran, differs, area: test.slice(0, Math.max(slash, 0)), name: test.slice(slash + 1) };
}

function row(one, index) {
  const href = "#test=" + encodeURIComponent(one.test);
  const cells = one.cells.map((cell, position) => {
    const attributes = { "data-scheduler": index.schedulers[position] };
    if (!cell) return el("span", attributes, "–");
    return el("span", attributes, verdictOf(cell.verdict, index.mutated), dim("  " + seconds(cell.seconds)));
  });
  const current = location.hash === href && "page";
  const name = el("span", {}, named(one.name, { title: one.test }));
  return el("a", { class: one.differs ? "row differs" : "row", href, "aria-current": current }, name, cells);
}

/** Rows, as many as one looks through, and a button for more. */
function rows(tests, index) {
  const button = el("button", { type: "button", class: "more", onclick: more });
  const box = el("div", {}, button);
  let done = 0;
  function more() {
    button.before(...tests.slice(done, done + CHUNK).map((one) => row(one, index)));
    done = Math.min(done + CHUNK, tests.length);
    const left = tests.length - done;
    if (left) button.textContent = `Show ${Math.min(CHUNK, left)} more of ${left}`;
    else button.remove();
  }
  more();
  return box;
}

function area(name, tests, index, open) {
  const cells = tests.flatMap((one) => one.ran);
  const counts = VERDICTS.map((verdict) => {
    const count = cells.filter((cell) => cell.verdict === verdict).length;
    return count ? el("span", { class: verdict }, ` ${GLYPHS[verdict]} ${count}`) : "";
  });
  const title = [named(name || "tests"), dim(" ", plural(tests.length, "test")), counts];
  const box = folded(title, () => rows(tests, index), open);
  box.classList.add("area");
  return box;
}

function checkbox(label, checked, change) {
  const input = el("input", { type: "checkbox", onchange: () => change(input.checked) });
  input.checked = checked;
  return el("label", {}, input, label);
}

function testList(index, container, form) {
  const tests = index.tests.map(listed);
  const wanted = { text: "", verdicts: new Set(VERDICTS), differs: false };

  function matches(one) {
    if (!one.test.toLowerCase().includes(wanted.text)) return false;
    if (wanted.differs && !one.differs) return false;
    return one.ran.some((cell) => wanted.verdicts.has(cell.verdict));
  }

  function render() {
    const matching = tests.filter(matches);
    const names = index.schedulers.map((name) => named(name, { title: name }));
    const head = el("div", { class: "columns", "aria-hidden": "true" }, el("span", {}, "test"), names);
    const areas = [...groups(matching, (one) => one.area)];
    const body = areas.map(([name, some]) => area(name, some, index, matching.length <= CHUNK));
    container.replaceChildren(head, ...body, matching.length ? "" : el("p", { class: "dim" }, "No test matches."));
  }

  function change(key, value) {
    wanted[key] = value;
    render();
  }

  const look = (event) => change("text", event.target.value.trim().toLowerCase());
  const words = { placeholder: "Filter by name  ( / )", "aria-label": "Filter tests by name" };
  const search = el("input", { type: "search", oninput: look, ...words });
  const tick = (verdict) => (on) => {
    wanted.verdicts[on ? "add" : "delete"](verdict);
    render();
  };
  form.append(search, ...VERDICTS.map((verdict) => checkbox(verdictOf(verdict, index.mutated), true, tick(verdict))));
  form.append(checkbox("only where schedulers differ", false, (on) => change("differs", on)));
  form.addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target === search) return;
    event.preventDefault();
    search.focus();
  });
  container.style.setProperty("--n", index.schedulers.length);
  return { render, tests, find: (test) => tests.find((one) => one.test === test) };
}

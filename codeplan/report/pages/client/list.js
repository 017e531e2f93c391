// The list of episodes: filters that the address keeps, sortable columns, rows on demand.

const ROWS = 300;

const SORTS = [
  ["task", "task", "text"],
  ["goal", "goal", "text"],
  ["column", "method", "text"],
  ["state", "outcome", "text"],
  ["actions", "actions", "n"],
  ["asks", "asks", "n"],
  ["refinements", "refined", "n"],
  ["calls", "calls", "n"],
  ["tokens", "tokens", "n"],
  ["seconds", "seconds", "n"],
];

function episodeSection(overview, query) {
  const state = {
    method: query.get("method") || "",
    kind: query.get("kind") || "",
    outcome: query.get("outcome") || "",
    text: query.get("text") || "",
    sort: query.get("sort") || "",
    shown: ROWS,
  };
  const table = h("div", {});
  const count = h("p", { class: "quiet small", id: "count" });
  const draw = () => {
    const found = chosen(overview, state);
    count.textContent =
      found.length === overview.episodes.length
        ? plural(found.length, "episode")
        : `${number(found.length)} of ${plural(overview.episodes.length, "episode")}`;
    refill(table, episodeTable(overview, found, state, sort), found.length > state.shown && more(found, state, draw));
  };
  const change = (name, value) => {
    state[name] = value;
    state.shown = ROWS;
    remember(state);
    draw();
    announce(count.textContent);
  };
  const sort = (key) => {
    change("sort", state.sort === key ? `-${key}` : key);
    table.querySelector(`[data-sort="${key}"]`).focus();
  };
  draw();
  return part("Episodes", filters(overview, state, change), count, table);
}

function filters(overview, state, change) {
  const methods = overview.columns.map((c, at) => [String(at), columnName(c, overview.columns)]);
  const kinds = overview.kinds.map((_, at) => [String(at), kindName(overview, at)]);
  const outcomes = Object.entries(OUTCOMES).filter(([o]) => overview.episodes.some((e) => e.state === o));
  return h(
    "form",
    { class: "filters", role: "search", "aria-label": "Episodes", submit: (e) => e.preventDefault() },
    methods.length > 1 && choice("Method", "method", methods, state, change),
    choice("Kind", "kind", kinds, state, change),
    choice("Outcome", "outcome", outcomes, state, change),
    h(
      "label",
      {},
      "Text ",
      h("input", {
        type: "search",
        id: "text",
        placeholder: "task, goal or reason",
        value: state.text,
        input: (e) => change("text", e.target.value),
      }),
    ),
  );
}

function choice(label, name, options, state, change) {
  const option = ([value, text]) => h("option", { value, selected: state[name] === value }, text);
  return h(
    "label",
    {},
    `${label} `,
    h("select", { id: name, change: (e) => change(name, e.target.value) }, option(["", "all"]), options.map(option)),
  );
}

/** The episodes that match the filters, sorted. */
function chosen(overview, state) {
  const words = state.text.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (e) =>
    (!state.method || String(e.column) === state.method) &&
    (!state.kind || String(e.kind) === state.kind) &&
    (!state.outcome || e.state === state.outcome) &&
    words.every((w) => `${e.task} ${e.goal} ${e.reason} ${overview.kinds[e.kind]}`.toLowerCase().includes(w));
  const found = overview.episodes.filter(fits);
  const [key, down] = [state.sort.replace(/^-/, ""), state.sort.startsWith("-")];
  if (!SORTS.some(([name]) => name === key)) return found;
  const rank = (a, b) =>
    typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : (a ?? Infinity) - (b ?? Infinity);
  return found.sort((a, b) => (down ? -1 : 1) * rank(a[key], b[key]) || a.id - b.id);
}

function episodeTable(overview, found, state, sort) {
  const columns = SORTS.filter(
    ([key]) => (key !== "column" || overview.columns.length > 1) && (key !== "tokens" || found.some((e) => e.tokens)),
  );
  const head = ([key, name, kind]) => {
    const direction = state.sort === key ? "ascending" : state.sort === `-${key}` ? "descending" : null;
    return h(
      "th",
      { scope: "col", class: kind === "n" ? "n" : null, "aria-sort": direction },
      h("button", { type: "button", class: "sort", "data-sort": key, click: () => sort(key) }, name),
    );
  };
  const rows = found.slice(0, state.shown).map((e) => episodeRow(overview, e, columns));
  return [
    sheet("Episodes; a column's name sorts by it", "episodes cards", columns.map(head), rows, headStamp(overview.columns)),
    !found.length && h("p", { class: "nothing" }, "No episode fits these filters."),
  ];
}

function episodeRow(overview, e, columns) {
  const cells = {
    task: () =>
      h(
        "th",
        { scope: "row" },
        h("a", { href: `#/episode/${e.id}` }, e.task),
        e.repeat > 0 && h("span", { class: "quiet" }, ` repeat ${e.repeat + 1}`),
      ),
    goal: () => h("td", { class: "goal" }, e.goal, e.reason && h("span", { class: "reason" }, e.reason)),
    column: () =>
      h("td", { class: "column" }, overview.columns[e.column].name, " ", modelOf(overview.columns[e.column], overview.columns)),
    state: () => h("td", {}, badge(e.state)),
  };
  return h(
    "tr",
    {},
    columns.map(([key, name]) =>
      cells[key]
        ? cells[key]()
        : h("td", { class: "n", "data-name": name }, number(e[key], key === "seconds" ? 2 : 0)),
    ),
  );
}

function badge(state) {
  return h("span", { class: `badge ${state}` }, OUTCOMES[state]);
}

function more(found, state, draw) {
  const show = () => {
    state.shown += ROWS;
    draw();
  };
  return h(
    "button",
    { type: "button", click: show },
    `Show ${number(Math.min(ROWS, found.length - state.shown))} more of ${number(found.length)}`,
  );
}

function remember(state) {
  const query = new URLSearchParams(Object.entries(state).filter(([name, value]) => value && name !== "shown"));
  history.replaceState(null, "", `#/${String(query) && `?${query}`}`);
}

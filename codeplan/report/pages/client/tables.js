// The tables of a bench: our own figures, and published ones apart from them.

function stamp() {
  return h("span", { class: "stamp" }, "scripted stand-in");
}

/** Let each printed page say whose figures it shows, where the stand-in has a part in them. */
function stampPrint(columns) {
  if (!columns.some((c) => c.scripted)) delete document.body.dataset.stamp;
  else document.body.dataset.stamp = `${mixed(columns) ? "Where so marked: s" : "S"}cripted stand-in, not a language model`;
}

function rate([won, n, low, high], series) {
  if (!n) return [h("span", { class: "quiet" }, "–")];
  return [
    h("span", { class: "rate" }, percent(won / n)),
    whisker([won, n, low, high], series),
    h("span", { class: "interval" }, `${percent(low)}–${percent(high)}`),
  ];
}

const MEANS = [
  ["reward", "reward", 2],
  ["attacks", "attacks that succeed, %", 1],
  ["claim", "claimed, %", 1],
  ["trajectory", "trajectory", 1],
  ["actions", "actions", 1],
  ["in_plan", "asks, in plan", 1],
  ["out_of_plan", "refinements, out of plan", 2],
  ["calls", "model calls", 1],
  ["tokens", "tokens", 0],
  ["money", "dollars", 4],
  ["seconds", "seconds", 2],
];

function successTable({ env, columns }) {
  const restarts = columns.some((c) => c.means.trajectory !== c.means.actions);
  const always = ["actions", "in_plan", "out_of_plan"];
  const has = (c, key) => (key === "attacks" ? c.means[key] !== null && key in c.means : c.means[key]);
  const means = MEANS.filter(([key]) =>
    key === "trajectory" ? restarts : always.includes(key) || columns.some((c) => has(c, key)),
  );
  const broken = columns.some((c) => c.broken);
  const inadmissible = columns.some((c) => c.inadmissible !== null);
  const passes = Math.max(0, ...columns.map((c) => c.passes.length));
  const figure = (text, name) => h("td", { class: "n", "data-name": name }, text);
  const between = (ends, digits) =>
    ends ? h("span", { class: "interval" }, `${number(ends[0], digits)}–${number(ends[1], digits)}`) : null;
  const mean = (c, [key, name, digits]) => figure([number(c.means[key], digits), " ", between(c.intervals[key], digits)], name);
  const row = (c, at) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, h("span", { class: "method" }, c.short), " ", modelOf(c, columns), settings(c)),
      h("td", { class: "rates" }, rate(c.rate, at)),
      figure(`${number(c.rate[0])}/${number(c.rate[1])}`, "solved"),
      broken && figure(number(c.broken), "broken off"),
      means.map((about) => mean(c, about)),
      inadmissible && figure(c.inadmissible === null ? "–" : percent(c.inadmissible), "inadmissible actions"),
      passes > 0 && figure(c.passes.length ? percent(c.passes[c.passes.length - 1]) : "–", `pass@${passes}`),
    );
  const heads = [
    "method, model",
    "success, 95% interval",
    ["solved", "n"],
    broken && ["broken off", "n"],
    ...means.map(([, name]) => [name, "n"]),
    inadmissible && ["inadmissible actions", "n"],
    passes > 0 && [`pass@${passes}`, "n"],
  ];
  return [
    sheet(
      `Success rate in ${env} by method, and means over its episodes`,
      "wide cards",
      heads,
      columns.map(row),
      headStamp(columns),
    ),
    quietly(
      "Counts are means over the episodes that ended, without those broken off.",
      columns.some((c) => Object.keys(c.intervals).length) && " Beside each is its 95% interval, by bootstrap over the tasks.",
      restarts && " Trajectory: actions since the last reset.",
    ),
  ];
}

/** The model beside the column's name; for the stand-in its stamp, unless the header of all `columns` has it. */
function modelOf(column, columns) {
  if (column.scripted) return mixed(columns) ? stamp() : null;
  return column.name.includes(column.model) ? null : h("span", { class: "quiet" }, column.model);
}

function settings(column) {
  const shown = (value) => (typeof value === "object" ? JSON.stringify(value) : value);
  const given = Object.entries(column.settings || {}).filter(
    ([name, value]) => !column.short.includes(`${name}=${shown(value)}`),
  );
  if (!given.length) return null;
  return h("span", { class: "settings" }, given.map(([name, value]) => `${name} ${shown(value)}`).join(" · "));
}

function kindTable({ env, columns, kinds, byKind }) {
  const totals = columns.map((c) => c.rate);
  const row = (name, rates, last) =>
    h(
      "tr",
      { class: last ? "sum" : null },
      h("th", { scope: "row" }, name),
      rates.map((r, at) => h("td", { class: "rates" }, stackedRate(r, at))),
    );
  const heads = ["kind", ...columns.map((c) => h("th", { scope: "col" }, c.short, " ", modelOf(c, columns)))];
  const rows = kinds.map((kind, at) => row(kind, byKind[at]));
  const label = `Success rate in ${env} by kind of task and method`;
  return sheet(label, "kinds", heads, [rows, row("all", totals, true)], headStamp(columns));
}

/** A rate and its count, with the interval below. */
function stackedRate([won, n, low, high], series) {
  if (!n) return h("span", { class: "quiet" }, "–");
  return [
    h("span", { class: "rate" }, percent(won / n)),
    h("span", { class: "count" }, `${number(won)}/${number(n)}`),
    h(
      "span",
      { class: "below", title: `95% interval ${percent(low)} to ${percent(high)}` },
      whisker([won, n, low, high], series),
      h("span", { class: "unseen" }, `, 95% interval ${percent(low)} to ${percent(high)}`),
    ),
  ];
}

/** Published figures, each with its model and source; a table for each suite. */
function publishedTables({ published, unpublished, columns }) {
  const suites = [...new Set(published.map((p) => p.suite))];
  return [
    suites.map((suite) => [
      suites.length > 1 && h("h3", {}, suite),
      publishedTable(
        suite,
        published.filter((p) => p.suite === suite),
      ),
    ]),
    unpublished.map((reason) => quietly(reason)),
    published.length > 0 &&
      columns.some((c) => c.scripted) &&
      quietly("These are results of language models; the scripted stand-in's figures cannot be compared with them."),
  ];
}

function publishedTable(suite, rows) {
  const named = [...new Set(rows.flatMap((p) => Object.keys(p.rates)))].filter((kind) => kind !== "all");
  const kinds = ["all", ...named];
  const row = (p) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, h("span", { class: "method" }, p.method), h("span", { class: "settings" }, p.source)),
      h("td", { "data-name": "model" }, p.model),
      kinds.map((kind) =>
        h(
          "td",
          { class: "n", "data-name": kind },
          Object.hasOwn(p.rates, kind) ? `${number(p.rates[kind], 1)}%` : "–",
        ),
      ),
    );
  const heads = ["method, source", "model", ...kinds.map((kind) => [kind, "n"])];
  return sheet(`Published success rates on ${suite}`, "cards", heads, rows.map(row));
}

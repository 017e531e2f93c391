// The tables of a bench: our own figures, and published ones apart from them.

function stamp() {
  return h("span", { class: "stamp" }, "scripted stand-in");
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

function successTable(overview) {
  const { columns } = overview;
  const restarts = columns.some((c) => c.means.trajectory !== c.means.actions);
  const always = ["actions", "in_plan", "out_of_plan"];
  const means = MEANS.filter(([key]) =>
    key === "trajectory" ? restarts : always.includes(key) || columns.some((c) => c.means[key]),
  );
  const broken = columns.some((c) => c.broken);
  const inadmissible = columns.some((c) => c.inadmissible !== null);
  const passes = Math.max(0, ...columns.map((c) => c.passes.length));
  const figure = (text) => h("td", { class: "n" }, text);
  const row = (c, at) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, h("span", { class: "method" }, c.name), " ", modelOf(c), settings(c)),
      h("td", { class: "rates" }, rate(c.rate, at)),
      figure(`${number(c.rate[0])}/${number(c.rate[1])}`),
      broken && figure(number(c.broken)),
      means.map(([key, , digits]) => figure(number(c.means[key], digits))),
      inadmissible && figure(c.inadmissible === null ? "–" : percent(c.inadmissible)),
      passes > 0 && figure(c.passes.length ? percent(c.passes[c.passes.length - 1]) : "–"),
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
    sheet("Success rate by method, and means over its episodes", "wide", heads, columns.map(row)),
    quietly(
      "Counts are means over the episodes that ended, without those broken off.",
      restarts && " Trajectory: actions since the last reset.",
    ),
  ];
}

/** The model beside the column's name. */
function modelOf(column) {
  if (column.scripted) return stamp();
  return column.name.includes(column.model) ? null : h("span", { class: "quiet" }, column.model);
}

function settings(column) {
  const given = Object.entries(column.settings || {});
  if (!given.length) return null;
  return h(
    "span",
    { class: "settings" },
    given.map(([name, value]) => `${name} ${typeof value === "object" ? JSON.stringify(value) : value}`).join(" · "),
  );
}

function kindTable(overview) {
  const totals = overview.columns.map((c) => c.rate);
  const row = (name, rates, last) =>
    h(
      "tr",
      { class: last ? "sum" : null },
      h("th", { scope: "row" }, name),
      rates.map((r, at) => h("td", { class: "rates" }, stackedRate(r, at))),
    );
  const heads = ["kind", ...overview.columns.map((c) => h("th", { scope: "col" }, c.name, " ", modelOf(c)))];
  const rows = overview.kinds.map((kind, at) => row(kind, overview.byKind[at]));
  return sheet("Success rate by kind of task and method", "kinds", heads, [rows, row("all", totals, true)]);
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

/** Published figures, each with its model and source. */
function publishedTable(overview) {
  const has = (p, kind) => Object.hasOwn(p.rates, kind);
  const kinds = ["all", ...overview.kinds.filter((kind) => overview.published.some((p) => has(p, kind)))];
  const row = (p) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, h("span", { class: "method" }, p.method), h("span", { class: "settings" }, p.source)),
      h("td", {}, p.model),
      kinds.map((kind) => h("td", { class: "n" }, has(p, kind) ? `${number(p.rates[kind], 1)}%` : "–")),
    );
  const heads = ["method, source", "model", ...kinds.map((kind) => [kind, "n"])];
  return [
    overview.published.length > 0 &&
      sheet("Published success rates on the same tasks", "", heads, overview.published.map(row)),
    overview.unpublished.map((reason) => quietly(reason)),
    overview.published.length > 0 &&
      overview.columns.some((c) => c.scripted) &&
      quietly("These are results of language models; the scripted stand-in's figures cannot be compared with them."),
  ];
}

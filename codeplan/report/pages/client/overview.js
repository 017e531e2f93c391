// The first page: what was run, the results, and the list of episodes.

const OUTCOMES = { success: "solved", claimed: "claimed", failure: "not solved", broken: "broken off", open: "no end yet" };
const FIELDS = [
  "column",
  "kind",
  "task",
  "goal",
  "state",
  "reason",
  "trajectory",
  "actions",
  "asks",
  "refinements",
  "calls",
  "tokens",
  "money",
  "seconds",
  "repeat",
];

/** The overview with its episodes as objects; `id` is an episode's place in the list. */
function understood(overview) {
  const episodes = overview.episodes.map((row, id) =>
    Object.assign({ id }, Object.fromEntries(FIELDS.map((f, at) => [f, row[at]]))),
  );
  return { ...overview, episodes };
}

/** A column's name in running text. */
function columnName(column) {
  return `${column.name}${column.scripted ? ", scripted stand-in" : ""}`;
}

/** Whether the page mixes figures of a model and of the stand-in; then each is marked. */
function mixed(overview) {
  return overview.columns.some((c) => c.scripted) && overview.columns.some((c) => !c.scripted);
}

function overviewPage(overview, query) {
  document.title = `${overview.name} · codeplan`;
  const ended = overview.episodes.filter((e) => e.state !== "open").length;
  const total = Math.max(overview.total || 0, overview.episodes.length);
  return [
    h(
      "header",
      { class: "opening" },
      h("h1", {}, overview.name),
      h("p", { class: "lede" }, lede(overview, ended, total)),
      ended < total && progress(ended, total),
      overview.columns.some((c) => c.scripted) && scriptedNote(),
    ),
    part("Success", successTable(overview)),
    overview.kinds.length > 1 && part("By kind of task", kindTable(overview)),
    overview.published.length + overview.unpublished.length > 0 && part("Published results", publishedTable(overview)),
    ended > 0 && part("Refinements, cost and length", legend(overview), plotsOf(overview)),
    episodeSection(overview, query),
  ];
}

function plotsOf(overview) {
  const { columns, cost } = overview;
  return h("div", { class: "plots" }, refinementPlot(columns), costPlot(columns, cost), lengthPlot(overview));
}

function lede(overview, ended, total) {
  const envs = [...new Set(overview.columns.map((c) => c.env))].join(", ");
  const methods = [...new Set(overview.columns.map((c) => c.method))];
  const how = methods.length > 3 ? plural(methods.length, "method") : methods.join(", ");
  const count = ended === total ? plural(total, "episode") : `${number(ended)} of ${plural(total, "episode")} ended`;
  return `${count} in ${envs || "no environment"}, run with ${how || "no method"}.`;
}

function progress(ended, total) {
  return h("progress", { max: total, value: ended, "aria-label": `${ended} of ${total} episodes ended` });
}

function scriptedNote() {
  return h(
    "p",
    { class: "note" },
    stamp(),
    " marks figures of a program that stands in for a model. They show that the machinery works. They say nothing about language models and cannot be compared with published results.",
  );
}

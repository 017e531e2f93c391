// The first page: what was run, the results, and the list of episodes.

const OUTCOMES = {
  success: "solved",
  claimed: "claimed",
  waiting: "waiting",
  failure: "not solved",
  broken: "broken off",
  open: "no end yet",
};
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

/** A column's name in running text; it names the stand-in where a model is on the page as well. */
function columnName(column, columns) {
  return column.scripted && mixed(columns) ? `${column.name}, scripted stand-in` : column.name;
}

/** A kind's name, with its environment if there are several. */
function kindName(overview, at) {
  const home = overview.groups.find((group) => group.kinds.includes(at));
  return overview.groups.length > 1 ? `${home.env}: ${overview.kinds[at]}` : overview.kinds[at];
}

/** Whether columns mix figures of a model and of the stand-in; then each is marked. */
function mixed(columns) {
  return columns.some((c) => c.scripted) && columns.some((c) => !c.scripted);
}

/** The stamp for the header of a table or plot whose figures are all the stand-in's; null otherwise. */
function headStamp(columns) {
  return columns.length > 0 && columns.every((c) => c.scripted) ? stamp() : null;
}

function overviewPage(overview, query) {
  document.title = `${overview.name} · codeplan`;
  const ended = overview.done;
  const total = Math.max(overview.total || 0, overview.episodes.length + overview.leftOut.episodes);
  const ofKind = overview.kinds.map(() => []);
  for (const episode of overview.episodes) ofKind[episode.kind].push(episode);
  const claims = overview.episodes.filter((e) => e.state === "claimed").length;
  return [
    h(
      "header",
      { class: "opening" },
      h("h1", {}, overview.name),
      h("p", { class: "lede" }, lede(overview, ended, total)),
      factList(provenance(overview)),
      ended < total && progress(ended, total),
      overview.columns.some((c) => c.scripted) && scriptedNote(),
      claims > 0 && claimedNote(claims),
      leftOutNotes(overview.leftOut),
    ),
    overview.groups.map((group) => environmentPart(overview, group, ofKind)),
    overview.published.length + overview.unpublished.length > 0 && part("Published results", publishedTables(overview)),
    overview.branches.length > 0 && part("Branches", branchTrees(overview)),
    episodeSection(overview, query),
  ];
}

/** The trees of runs that branched off from one another, each branch below the run it comes from. */
function branchTrees({ branches, episodes }) {
  const below = (parent) => branches.filter(([, from]) => from === parent);
  const figures = (e) =>
    [[e.actions, "action"], [e.refinements, "refinement"], [e.calls, "model call"]]
      .filter(([count]) => count !== null)
      .map(([count, name]) => plural(count, name))
      .join(", ");
  const node = ([id, parent, at, folder]) => {
    const e = episodes[id];
    const grown = below(id);
    return h(
      "li",
      {},
      h("a", { href: `#/episode/${id}` }, folder),
      " ",
      badge(e.state),
      h("span", { class: "quiet" }, ` ${figures(e)}`),
      parent !== null && [", from ", h("a", { href: `#/episode/${parent}?event=${at}` }, `event ${at}`)],
      e.reason && h("span", { class: "reason" }, e.reason),
      grown.length > 0 && h("ul", {}, grown.map(node)),
    );
  };
  return [
    h("ul", {}, below(null).map(node)),
    quietly("A branch begins as the run above it, up to an event, and does not count in the figures."),
  ];
}

/** The tables and plots of an environment; below a heading of its own if there are several environments. */
function environmentPart(overview, { env, columns, kinds, byKind }, ofKind) {
  const group = {
    env,
    columns: columns.map((at) => overview.columns[at]),
    kinds: kinds.map((at) => overview.kinds[at]),
    byKind,
    episodes: kinds.map((at) => ofKind[at]),
    seriesOf: new Map(columns.map((column, at) => [column, at])),
  };
  const ended = group.episodes.flat().some((e) => e.state !== "open");
  const parts = [
    ["Success", successTable(group)],
    kinds.length > 1 && ["By kind of task", kindTable(group)],
    ended && ["Refinements, cost and length", [legend(group.columns), plotsOf(group, overview.cost)]],
  ].filter(Boolean);
  if (overview.groups.length === 1) return parts.map(([title, content]) => part(title, content));
  return part(
    env,
    parts.map(([title, content]) => [h("h3", {}, title), content]),
  );
}

function plotsOf(group, cost) {
  return h(
    "div",
    { class: "plots" },
    refinementPlot(group.columns),
    costPlot(group.columns, cost),
    lengthPlot(group),
  );
}

function lede(overview, ended, total) {
  const envs = overview.groups.map((group) => group.env).join(", ");
  const methods = [...new Set(overview.columns.map((c) => c.method))];
  const how = methods.length > 3 ? plural(methods.length, "method") : methods.join(", ");
  const count = ended === total ? plural(total, "episode") : `${number(ended)} of ${plural(total, "episode")} ended`;
  return `${count} in ${envs || "no environment"}, run with ${how || "no method"}.`;
}

/** When it was run, by which models and by which version of codeplan. */
function provenance({ started, ended, columns, versions }) {
  const models = [...new Set(columns.filter((c) => !c.scripted).map((c) => c.model))];
  if (columns.some((c) => c.scripted)) models.push("scripted stand-in");
  return [
    ["run", timespan(started, ended)],
    [models.length > 1 ? "models" : "model", models.join(", ")],
    ["codeplan", versions.join(", ")],
  ];
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

/** What the page does not show, because there is too much of it. */
function leftOutNotes({ columns, episodes }) {
  return [
    columns > 0 && h("p", { class: "note" }, `Left out: ${plural(columns, "further column")}, with their episodes.`),
    episodes > 0 &&
      h("p", { class: "note" }, `Not listed: ${plural(episodes, "further episode")}. The figures count them.`),
  ];
}

function claimedNote(count) {
  return h(
    "p",
    { class: "note" },
    badge("claimed"),
    ` ${plural(count, "episode")} ended as claimed: the method believes that the task is done, but no verifier and no environment confirmed it. A claim does not count as solved.`,
  );
}

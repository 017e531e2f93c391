// The library of skills: an overview, and each skill with plan, parameters, figures and history.

const STATUSES = { active: "active", candidate: "candidate", retired: "retired" };

function skillsPage(library, query) {
  if (!library) return h("p", { class: "nothing" }, "There is no library of skills.");
  document.title = `${library.name} · skills · codeplan`;
  const rows = library.skills.map((skill, at) => ({ ...skill, at }));
  const counts = Object.keys(STATUSES).map((s) => `${number(rows.filter((r) => r.status === s).length)} ${s}`);
  const count = h("p", { class: "quiet small" });
  const table = h("div", {});
  const state = { status: query.get("status") || "", text: query.get("text") || "", shown: ROWS };
  const draw = () => {
    const words = state.text.toLowerCase().split(/\s+/).filter(Boolean);
    const found = rows.filter(
      (r) =>
        (!state.status || r.status === state.status) &&
        words.every((w) => `${r.name} ${r.kind} ${r.env} ${r.description}`.toLowerCase().includes(w)),
    );
    count.textContent = `${number(found.length)} of ${plural(rows.length, "skill")}`;
    refill(table, skillTable(found.slice(0, state.shown)), found.length > state.shown && more(found, state, draw));
  };
  const change = (name, value) => {
    Object.assign(state, { [name]: value, shown: ROWS });
    draw();
    announce(count.textContent);
  };
  draw();
  return [
    h(
      "header",
      { class: "opening" },
      h("h1", {}, "Skills"),
      h("p", { class: "lede" }, `${library.name}: ${counts.join(", ")}.`),
    ),
    library.faults.length > 0 &&
      h(
        "ul",
        { class: "note" },
        library.faults.map((f) => h("li", {}, f)),
      ),
    h(
      "section",
      { "aria-label": "Skills" },
      h(
        "form",
        { class: "filters", role: "search", "aria-label": "Skills", submit: (e) => e.preventDefault() },
        choice("Status", "status", Object.entries(STATUSES), state, change),
        h(
          "label",
          {},
          "Text ",
          h("input", { type: "search", id: "text", value: state.text, input: (e) => change("text", e.target.value) }),
        ),
      ),
      count,
      table,
    ),
  ];
}

function skillTable(rows) {
  const row = (r) =>
    h(
      "tr",
      {},
      h(
        "th",
        { scope: "row" },
        h("a", { href: `#/skill/${r.at}` }, r.name),
        h("span", { class: "settings" }, `${r.env}${r.kind ? `, ${r.kind}` : ""}, version ${r.version}`),
      ),
      h("td", { class: "goal" }, r.description),
      h("td", {}, status(r)),
      evidence(r),
    );
  const heads = ["skill", "what it does", "status", ...EVIDENCE];
  return sheet("Skills with their success rates, with the skill and without", "episodes", heads, rows.map(row));
}

const EVIDENCE = ["with it, 95% interval", "without it", "pairs won, lost", "p"];

/** Success with and without the skill, the discordant pairs, and McNemar's exact p. */
function evidence(figures) {
  return [
    h("td", { class: "rates" }, stackedRate(figures.with, 0)),
    h("td", { class: "rates" }, stackedRate(figures.without, 5)),
    h("td", { class: "n" }, `${figures.wins}, ${figures.losses}`),
    h("td", { class: "n" }, figures.p === null ? "–" : figures.p < 0.001 ? "< 0.001" : figures.p.toFixed(3)),
  ];
}

function status(row) {
  const kind = { active: "success", retired: "failure" }[row.status] || "";
  return [
    h("span", { class: `badge plain ${kind}` }, row.status),
    row.pinned && h("span", { class: "quiet small" }, " pinned"),
    row.failing && h("span", { class: "bad small" }, " failing of late"),
  ];
}

async function skillPage(library, at) {
  const row = library && library.skills[at];
  if (!row) return h("p", { class: "nothing" }, "There is no such skill.");
  document.title = `${row.name} · skills · codeplan`;
  const skill = await data.skill(row, at);
  const opening = h(
    "header",
    { class: "opening" },
    h("nav", { class: "crumbs", "aria-label": "Skills" }, h("a", { href: "#/skills", id: "up" }, "Skills")),
    h("h1", {}, row.name, " ", status(row)),
    h("p", { class: "lede" }, row.description),
    factList([
      ["environment", row.env],
      ["kind", row.kind || "any"],
      ["version", String(row.version)],
      ["parameters", skill && skill.parameters.join(", ")],
    ]),
  );
  if (!skill)
    return [
      opening,
      h(
        "p",
        { class: "nothing" },
        "Its plan and evidence are left out of this file to limit its size; codeplan view shows them.",
      ),
    ];
  return [
    opening,
    part(
      "Evidence",
      skill.scripted &&
        h(
          "p",
          {},
          stamp(),
          h(
            "span",
            { class: "quiet small" },
            " made some or all of these episodes, which say nothing about language models.",
          ),
        ),
      historyTable([{ version: row.version, ...skill }, ...skill.history.slice(1)]),
    ),
    part("Plan", planBox(skill)),
    skill.history.some((v) => v.diff) &&
      part(
        "History",
        skill.history
          .filter((v) => v.diff)
          .map((v) =>
            h(
              "details",
              { open: v.version === row.version },
              h("summary", {}, `What version ${v.version} changed`),
              diff(v.diff),
            ),
          ),
      ),
    skill.origins.length > 0 &&
      part(
        "Where it comes from",
        h(
          "ul",
          {},
          skill.origins.map((o) =>
            h("li", {}, run(o.episode, o.task), o.goal && ` ${o.goal}`, h("span", { class: "quiet" }, ` ${o.model}`)),
          ),
        ),
      ),
    part("Episodes", evidenceTable(skill)),
  ];
}

function historyTable(versions) {
  const row = (v) => h("tr", {}, h("th", { scope: "row" }, `version ${v.version}`), evidence(v));
  return sheet("Evidence by version", "", ["version", ...EVIDENCE], versions.map(row));
}

function planBox(skill) {
  return h(
    "div",
    { class: "panel-source boxed", tabindex: "0", role: "group", "aria-label": "Source of the plan" },
    planLines(skill.plan),
  );
}

/** A task's name, as a link if the page shows its episode. */
function run(episode, task) {
  return episode === null ? task : h("a", { href: `#/episode/${episode}` }, task);
}

function evidenceTable(skill) {
  const names = ["task", "seed", "model", "skill shown", "outcome", "version", "made for", "when"];
  const row = ([task, seed, model, shownIt, success, version, phase, when, episode]) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, run(episode, task)),
      h("td", { class: "n" }, String(seed)),
      h("td", {}, model === "scripted" ? stamp() : model),
      h("td", {}, shownIt ? "with" : "without"),
      h("td", {}, badge(success ? "success" : "failure")),
      h("td", { class: "n" }, String(version)),
      h("td", {}, phase),
      h("td", {}, when > 0 && when < 1e11 ? moment(when) : "–"),
    );
  return [
    skill.all > skill.evidence.length && quietly(`The latest ${number(skill.evidence.length)} of ${number(skill.all)}.`),
    sheet("Evidence for the skill", "episodes", names, [...skill.evidence].reverse().map(row)),
  ];
}

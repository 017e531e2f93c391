// A plan's text with its running step, and the changes of a refinement.

const TOKENS =
  /(#.*$)|("""|'''|[rbf]{0,2}"(?:[^"\\]|\\.)*"|[rbf]{0,2}'(?:[^'\\]|\\.)*')|\b(def|return|if|elif|else|for|while|in|not|and|or|is|assert|break|continue|pass|None|True|False|lambda|try|except|finally|with|as|raise|import|from|class|del|yield|global|nonlocal)\b/g;
const TOKEN_CLASSES = ["comment", "string", "keyword"];

/** A line of Python with syntax colours. */
function code(line) {
  const parts = [];
  let from = 0;
  for (const found of line.slice(0, 500).matchAll(TOKENS)) {
    const kind = [found[1], found[2], found[3]].findIndex((group) => group !== undefined);
    parts.push(line.slice(from, found.index), h("span", { class: TOKEN_CLASSES[kind] }, found[0]));
    from = found.index + found[0].length;
  }
  return [...parts, line.slice(from)];
}

/** The whole plan with line numbers. */
function planLines(plan) {
  const starts = new Map(plan.steps.map(([step, first]) => [first, step]));
  const line = (text, at) =>
    h("li", { "data-line": at + 1, "data-step": starts.get(at + 1) }, h("code", {}, code(text)));
  const rest = plan.whole - plan.lines.length;
  return [
    h("ol", { class: "source" }, plan.lines.map(line)),
    rest > 0 && quietly(`${plural(rest, "more line")} not shown.`),
  ];
}

/** The changes with three lines around each; `rows` are [mark, before, after, text]; mark "@" is a remark. */
function diff(rows) {
  const near = rows.map(() => false);
  rows.forEach((row, at) => {
    if (row[0] !== " ") for (let i = Math.max(0, at - 3); i <= Math.min(rows.length - 1, at + 3); i++) near[i] = true;
  });
  if (!near.includes(true)) return h("p", { class: "quiet" }, "The same as the plan before.");
  const body = [];
  rows.forEach((row, at) => {
    if (near[at]) body.push(diffRow(row));
    else if (at === 0 || near[at - 1]) body.push(folded(rows, near, at));
  });
  return scrolling(
    "What changed in the plan",
    h(
      "table",
      { class: "diff" },
      h("caption", { class: "unseen" }, "Lines taken out and put in"),
      h("tbody", {}, body),
    ),
  );
}

const SIGNS = { " ": ["", "same"], "-": ["−", "out"], "+": ["+", "in"] };

function diffRow([mark, before, after, text]) {
  if (mark === "@") return h("tr", {}, h("td", { colspan: "4", class: "quiet" }, text));
  const [sign, kind] = SIGNS[mark];
  const announced = { out: "taken out: ", in: "put in: " }[kind];
  return h(
    "tr",
    { class: kind },
    h("td", { class: "n" }, before || ""),
    h("td", { class: "n" }, after || ""),
    h("td", { class: "sign", "aria-hidden": "true" }, sign),
    h("td", {}, announced && h("span", { class: "unseen" }, announced), h("code", {}, code(text))),
  );
}

function folded(rows, near, at) {
  let end = at;
  while (end < rows.length && !near[end]) end++;
  const show = (event) => event.target.closest("tr").replaceWith(...rows.slice(at, end).map(diffRow));
  return h(
    "tr",
    { class: "fold" },
    h("td", { colspan: "4" }, h("button", { type: "button", click: show }, `${plural(end - at, "line")} the same`)),
  );
}

function changeCount(rows) {
  const out = rows.filter(([mark]) => mark === "-").length;
  const put = rows.filter(([mark]) => mark === "+").length;
  return h(
    "span",
    { class: "changes" },
    h("span", { class: "in" }, `+${put}`),
    " ",
    h("span", { class: "out" }, `−${out}`),
  );
}

/** The plan beside the timeline. It follows the current event. */
class PlanPanel {
  constructor() {
    this.title = h("h2", { id: "panel-title" }, "Plan");
    this.says = h("p", { class: "quiet small", id: "panel-says" });
    this.body = h("div", { class: "panel-source", tabindex: "0", role: "group", "aria-label": "Source of the plan" });
    this.state = h("div", {});
    this.element = h(
      "section",
      { class: "panel", "aria-labelledby": "panel-title" },
      this.title,
      this.says,
      this.body,
      this.state,
    );
  }

  /** Show a state: the plan and step, the line of a failure, the variables. */
  show(state) {
    const plan = state.plan;
    if (plan !== this.plan) {
      this.plan = plan;
      refill(this.body, plan ? planLines(plan) : h("p", { class: "quiet" }, "No plan so far."));
      this.body.scrollTop = 0;
    }
    this.title.textContent = plan ? `Plan ${plan.plan}` : "Plan";
    this.says.textContent = [
      `at event ${state.n}`,
      state.step !== null && `in step ${state.step}`,
      state.line && `failed in line ${state.line}`,
    ]
      .filter(Boolean)
      .join(", ");
    if (plan) this.mark(plan, state);
    refill(
      this.state,
      state.variables && [
        h("h3", {}, "Variables"),
        variableTable(state.variables, "Variables at the latest checkpoint"),
      ],
    );
  }

  mark(plan, { step, from, line }) {
    const [, first, last] = plan.steps.find(([number]) => number === step) || [];
    let skipped = false;
    for (const item of this.body.querySelectorAll("li")) {
      const at = Number(item.dataset.line);
      if (item.dataset.step) skipped = from > 1 && Number(item.dataset.step) < from;
      item.classList.toggle("running", at >= first && at <= last);
      item.classList.toggle("skipped", skipped);
      item.classList.toggle("resumed", from > 1 && Number(item.dataset.step) === from);
      item.classList.toggle("failed", at === line);
    }
    this.reveal([".failed", ".running", ".resumed"].map((kind) => this.body.querySelector(kind)).find(Boolean));
  }

  /** Scroll only the plan until the line is visible. */
  reveal(item) {
    if (!item) return;
    const top = item.offsetTop - this.body.offsetTop;
    const seen = top >= this.body.scrollTop && top <= this.body.scrollTop + this.body.clientHeight - 60;
    if (!seen) this.body.scrollTop = Math.max(0, top - 40);
  }
}

/** Variables as rows of [name, text, whether it changed]. */
function variableTable({ rows, more, dropped }, caption) {
  const row = ([name, value, changed]) =>
    h(
      "tr",
      { class: changed ? "changed" : null },
      h("th", { scope: "row" }, h("code", {}, name), changed && h("span", { class: "unseen" }, " (changed)")),
      h("td", {}, h("code", {}, value)),
    );
  const lost = Object.entries(dropped || {});
  return [
    rows.length > 0
      ? scrolling(
          caption,
          h(
            "table",
            { class: "variables" },
            h("caption", { class: "unseen" }, caption),
            h("tbody", {}, rows.map(row)),
          ),
        )
      : quietly("None yet."),
    more && quietly(`${plural(more, "more variable")} not shown.`),
    lost.length > 0 &&
      h(
        "p",
        { class: "quiet small" },
        "Not saved: ",
        lost.map(([name, why], at) => [at ? "; " : "", h("code", {}, name), ` ${why}`]),
      ),
  ];
}

// Shows one event: its title, its cost and its blocks.

/** A text. A cut text has its length, and a button for the whole text if the page has a server. */
function text(value, id, n, find, tag = "p", kind = "") {
  const long = tag === "pre" && { tabindex: "0", role: "group", "aria-label": `Text of event ${n}` };
  if (typeof value === "string") return h(tag, { class: `text ${kind}`, ...long }, value);
  const body = h(tag, { class: `text ${kind}`, ...long }, `${value.text}…`);
  const note = h("span", { class: "quiet small" }, `Cut: ${plural(value.whole, "character")} in all. `);
  const show = async () => {
    const whole = find(await data.event(id, n));
    body.textContent = typeof whole === "string" ? whole : `${whole.text}…`;
    note.textContent =
      typeof whole === "string" ? "" : `Cut: ${plural(whole.whole, "character")} in all; the trace has them.`;
  };
  return [body, h("p", {}, note, served && h("button", { type: "button", click: show }, "Show it whole"))];
}

/** A text that unfolds; `of` names its event or plan for screen readers. */
function unfolding(title, of, aside, ...children) {
  const details = h(
    "details",
    {},
    h("summary", {}, title, h("span", { class: "unseen" }, ` of ${of}`), aside && h("span", { class: "quiet" }, aside)),
  );
  append(details, children);
  return details;
}

const TEXT_TAGS = { failure: "pre", traceback: "pre", output: "pre", reply: "pre", reasoning: "pre" };
const FOLDED = { reply: "Answer", reasoning: "Reasoning" };

const BLOCKS = {
  text: (block, item, id, at) => {
    const shown = text(block.text, id, item.n, (whole) => whole.blocks[at].text, TEXT_TAGS[block.role], block.role);
    if (block.role === "start") return [h("p", { class: "what" }, "Environment"), shown];
    const folded = FOLDED[block.role];
    return folded ? unfolding(folded, `event ${item.n}`, null, shown) : shown;
  },
  plan: (block, item) => {
    const plan = item.state.plan;
    return [
      block.diff &&
        h(
          "details",
          { class: "changed", open: true },
          h(
            "summary",
            {},
            "Changes",
            h("span", { class: "unseen" }, ` from the plan before plan ${plan.plan} `),
            " ",
            changeCount(block.diff),
          ),
          diff(block.diff),
        ),
      unfolding(
        "Whole plan",
        `plan ${plan.plan}`,
        ` ${plural(plan.whole, "line")}`,
        scrolling(`Source of plan ${plan.plan}`, planLines(plan)),
      ),
    ];
  },
  fixes: (block) =>
    h(
      "ul",
      { class: "diagnostics" },
      block.fixes.map((fix) =>
        h(
          "li",
          {},
          h("span", { class: "quiet" }, `line ${fix.line}: `),
          h("code", {}, fix.was),
          fix.now ? [" became ", h("code", {}, fix.now)] : " was removed",
          " ",
          h("span", { class: "quiet" }, fix.rule),
        ),
      ),
    ),
  diagnostics: (block) =>
    h(
      "ul",
      { class: "diagnostics" },
      block.diagnostics.map((d) =>
        h(
          "li",
          {},
          h("span", { class: "quiet" }, d.line ? `line ${d.line}: ` : ""),
          d.message,
          " ",
          h("code", {}, d.rule),
        ),
      ),
    ),
  variables: (block, item) => {
    const { rows, more } = item.state.variables;
    const changed = rows.filter((row) => row[2]).length;
    const aside = ` ${plural(rows.length + (more || 0), "variable")}${changed ? `, ${changed} new or changed` : ""}`;
    const details = unfolding("Checkpoint", `event ${item.n}`, aside);
    details.classList.add("checkpoint");
    append(details, variableTable(item.state.variables, `Variables at event ${item.n}`));
    return details;
  },
  prompt: (block, item, id, at) => {
    const message = ([role, content], index) =>
      h(
        "div",
        { class: "message" },
        h("p", { class: "role" }, role),
        text(content, id, item.n, (whole) => whole.blocks[at].messages[index][1], "pre"),
      );
    const aside = ` ${plural(block.messages.length, "message")}${block.about ? `, ${block.about}` : ""}`;
    const details = unfolding("Prompt", `event ${item.n}`, aside);
    details.addEventListener("toggle", () => append(details, block.messages.map(message)), { once: true });
    return details;
  },
  pairs: (block, item) => [
    pairs(block.facts),
    unfolding("Settings", `event ${item.n}`, ` ${Object.keys(block.settings).length}`, pairs(block.settings)),
  ],
  picture: (block, item) =>
    block.picture
      ? h("img", { src: block.picture, alt: `The page after event ${item.n}`, loading: "lazy", class: "picture" })
      : quietly(`Picture ${block.file} ${block.left_out ? "is left out to limit the size" : "cannot be shown"} here.`),
  result: (block, item, id, at) => [
    h("p", { class: "head" }, h("span", { class: "what" }, "The episode ends"), " ", badge(block.state)),
    block.reason && text(block.reason, id, item.n, (whole) => whole.blocks[at].reason),
  ],
};

/** The title, the cost and the blocks of an event of the episode `id`. */
function eventBody(item, id) {
  const title =
    item.title &&
    h(
      "p",
      { class: "head" },
      item.tone === "start" && item.state.from > 1 && resumeArrow(),
      h("span", { class: `what ${item.tone}` }, item.title),
      item.aside && h("span", { class: "usage" }, item.aside),
    );
  const blocks = item.blocks.map((block, at) => BLOCKS[block.type](block, item, id, at));
  const solved = item.tone === "good" && h("p", { class: "verdict" }, badge("success"));
  return [title, blocks, solved];
}

function pairs(values) {
  return h(
    "dl",
    { class: "pairs" },
    Object.entries(values).map(([name, value]) => [
      h("dt", {}, name),
      h("dd", {}, typeof value === "object" ? JSON.stringify(value) : String(value)),
    ]),
  );
}

/** A step and a line in words. */
function place({ step, line }) {
  return [step === null || step === undefined ? "outside all steps" : `in step ${step}`, line && `line ${line}`]
    .filter(Boolean)
    .join(", ");
}

function resumeArrow() {
  return s(
    "svg",
    { viewBox: "0 0 22 18", class: "arrow", "aria-hidden": "true" },
    s("path", { d: "M3 3c0 8 4 10 14 10" }),
    s("path", { d: "M13 9l4.5 4-4.5 4" }),
  );
}

// What is shown of each kind of event.

/** A text; where it was cut, how long it is, and, where the whole can be had, a button for it. */
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

function usage({ usage: used = {}, seconds, retries }) {
  const parts = [
    used.input !== undefined &&
      used.output !== undefined &&
      (used.input || used.output) &&
      `${number(used.input)} in, ${number(used.output)} out`,
    used.cached && `${number(used.cached)} cached`,
    used.money && `$${used.money.toFixed(4)}`,
    seconds >= 0.01 && `${seconds.toFixed(2)} s`,
    retries && plural(retries, "retry", "retries"),
  ];
  return h("span", { class: "usage" }, parts.filter(Boolean).join(" · "));
}

function prompt(item, id) {
  const message = ([role, content], at) =>
    h(
      "div",
      { class: "message" },
      h("p", { class: "role" }, role),
      text(content, id, item.n, (whole) => whole.messages[at][1], "pre"),
    );
  const details = h(
    "details",
    { class: "prompt" },
    h(
      "summary",
      {},
      "Prompt",
      h("span", { class: "unseen" }, ` of event ${item.n}`),
      h(
        "span",
        { class: "quiet" },
        ` ${plural(item.messages.length, "message")}${item.prompt ? `, ${item.prompt}` : ""}`,
      ),
    ),
  );
  details.addEventListener(
    "toggle",
    () => details.children.length === 1 && append(details, item.messages.map(message)),
    { once: true },
  );
  return details;
}

const PURPOSES = {
  plan: "writes a plan",
  check: "repairs the plan",
  refine: "refines the plan",
  resume: "names the step to resume at",
  ask: "answers the plan",
  act: "chooses an action",
  formalise: "puts the action into form",
  reflect: "looks back",
};

function question(item) {
  const user = [...item.messages].reverse().find(([role]) => role === "user");
  if (!user) return "";
  const words = typeof user[1] === "string" ? user[1] : user[1].text;
  return words.length > 700 ? `…${words.slice(-700)}` : words;
}

function variablesOf(item, open = false) {
  const changed = (item.variables || []).filter((v) => v[2]).length;
  const count = (item.variables || []).length + (item.more || 0);
  return h(
    "details",
    { class: "checkpoint", open },
    h(
      "summary",
      {},
      "Checkpoint",
      h("span", { class: "unseen" }, ` of event ${item.n}`),
      h("span", { class: "quiet" }, ` ${plural(count, "variable")}${changed ? `, ${changed} new or changed` : ""}`),
    ),
    variableTable(item, `Variables at event ${item.n}`),
  );
}

const ENTRIES = {
  episode_started: (item) => [
    h("p", { class: "what" }, "Episode begins"),
    h("details", {}, h("summary", {}, "Settings"), pairs({ ...item.settings, ...item.model, ...without(item.budget) })),
  ],
  environment_reset: (item, id) => [
    h("p", { class: "what" }, "The world"),
    text(item.text, id, item.n, (w) => w.text, "p", "observation"),
  ],
  acted: (item, id) => [
    text(item.action, id, item.n, (w) => w.action, "p", "action"),
    text(item.text, id, item.n, (w) => w.text, "p", "observation"),
    (item.success || item.done) &&
      h(
        "p",
        { class: "verdict" },
        item.success ? badge("success") : h("span", { class: "badge" }, "the world says: done"),
      ),
  ],
  asked: (item, id) => [
    h(
      "p",
      { class: "head" },
      h("span", { class: "what" }, item.model || "Model"),
      ` ${PURPOSES[item.purpose] || item.purpose}`,
      usage(item),
    ),
    item.purpose === "ask" && h("p", { class: "text question" }, question(item)),
    item.purpose === "ask" || item.purpose === "act" || item.purpose === "resume"
      ? text(item.answer, id, item.n, (w) => w.answer, "p", "answer")
      : h(
          "details",
          {},
          h("summary", {}, "Answer", h("span", { class: "unseen" }, ` of event ${item.n}`)),
          text(item.answer, id, item.n, (w) => w.answer, "pre"),
        ),
    item.finish !== "stop" && quietly(`finish reason: ${item.finish}`),
    prompt(item, id),
  ],
  ask_failed: (item, id) => [
    h(
      "p",
      { class: "head" },
      h("span", { class: "what bad" }, "No answer"),
      ` ${PURPOSES[item.purpose] || item.purpose}`,
      usage(item),
    ),
    text(item.error, id, item.n, (w) => w.error, "pre", "failure"),
    prompt(item, id),
  ],
  plan_drafted: (item) => [
    h(
      "p",
      { class: "head" },
      h("span", { class: "what" }, `Plan ${item.plan}`),
      item.diff ? ` ${item.origin === "check" ? "repaired" : "refined"} ` : ` drafted, ${plural(item.whole, "line")} `,
      item.diff && changeCount(item.diff),
    ),
    item.diff &&
      h(
        "details",
        { class: "changed", open: true },
        h("summary", {}, "Changes", h("span", { class: "unseen" }, ` from the plan before plan ${item.plan}`)),
        diff(item.diff),
      ),
    h("details", {}, h("summary", {}, "Whole plan", h("span", { class: "unseen" }, ` ${item.plan}`)), planLines(item)),
  ],
  plan_rejected: (item) => [
    h("p", { class: "head" }, h("span", { class: "what bad" }, `Plan ${item.plan} refused`), " before any of it ran"),
    h(
      "ul",
      { class: "diagnostics" },
      item.diagnostics.map((d) =>
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
  ],
  plan_started: (item) =>
    item.start_from > 1
      ? [
          h(
            "p",
            { class: "head resume" },
            resumeArrow(),
            h("span", { class: "what" }, `Plan ${item.plan} resumes at step ${item.start_from}`),
          ),
          h(
            "p",
            { class: "text small" },
            item.restored.length
              ? ["With the saved ", item.restored.map((n, at) => [at ? ", " : "", h("code", {}, n)]), "."]
              : "With no saved variables.",
          ),
          lost(item.dropped),
        ]
      : [h("p", { class: "head" }, h("span", { class: "what" }, `Plan ${item.plan} starts`)), lost(item.dropped)],
  step_entered: (item) => [
    h("p", { class: "head" }, h("span", { class: "what step" }, `Step ${item.step}`), ` ${item.title}`),
    variablesOf(item),
  ],
  printed: (item, id) => text(item.text, id, item.n, (w) => w.text, "pre", "printed"),
  plan_failed: (item, id) => [
    h("p", { class: "head" }, h("span", { class: "what bad" }, item.error), ` ${place(item)}`),
    text(item.message, id, item.n, (w) => w.message, "pre", "failure"),
    variablesOf(item),
  ],
  plan_stopped: (item, id) => [
    h(
      "p",
      { class: "head" },
      h("span", { class: "what bad" }, `Stopped by the limit of ${item.limit}`),
      ` ${place(item)}`,
    ),
    text(item.message, id, item.n, (w) => w.message, "pre", "failure"),
  ],
  plan_finished: () => [h("p", { class: "head" }, h("span", { class: "what" }, "The plan ran to its end"))],
  skills_chosen: (item) => [
    h("p", { class: "head" }, h("span", { class: "what" }, "Skills chosen"), ` to ${item.purpose}`),
    item.chosen.length
      ? h(
          "ul",
          {},
          item.chosen.map(([name, version, score]) =>
            h("li", {}, h("code", {}, name), h("span", { class: "quiet" }, ` version ${version}, score ${score}`)),
          ),
        )
      : h("p", { class: "quiet" }, "None fits."),
  ],
  embedded: (item) =>
    h(
      "p",
      { class: "head" },
      h("span", { class: "what" }, "Embeddings"),
      ` of ${item.texts} texts by ${item.model}`,
      usage(item),
    ),
  pictured: (item) =>
    item.picture
      ? h("img", { src: item.picture, alt: `The page after event ${item.n}`, loading: "lazy", class: "picture" })
      : quietly(`Picture ${item.file} cannot be shown here.`),
  warned: (item, id) => [h("p", { class: "what bad" }, "Warning"), text(item.text, id, item.n, (w) => w.text)],
  episode_ended: (item, id) => [
    h(
      "p",
      { class: "head" },
      h("span", { class: "what" }, "Episode ends"),
      " ",
      badge(item.success ? "success" : item.broken_off ? "broken" : "failure"),
    ),
    !item.success && text(item.text, id, item.n, (w) => w.text),
  ],
  unreadable: (item) => h("p", { class: "bad" }, `This event cannot be shown (${bytes(item.size)}): ${item.reason}`),
  unknown: (item) => h("p", { class: "quiet" }, item.event),
};

function place({ step, line }) {
  return [step === null || step === undefined ? "outside all steps" : `in step ${step}`, line && `line ${line}`]
    .filter(Boolean)
    .join(", ");
}

function lost(dropped) {
  const names = Object.entries(dropped || {});
  return (
    names.length > 0 &&
    h(
      "p",
      { class: "text small" },
      "Not restored: ",
      names.map(([name, why], at) => [at ? "; " : "", h("code", {}, name), ` ${why}`]),
    )
  );
}

function without(values) {
  return Object.fromEntries(
    Object.entries(values || {})
      .filter(([, v]) => v !== null)
      .map(([name, v]) => [`budget: ${name}`, v]),
  );
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

function resumeArrow() {
  return s(
    "svg",
    { viewBox: "0 0 22 18", class: "arrow", "aria-hidden": "true" },
    s("path", { d: "M3 3c0 8 4 10 14 10" }),
    s("path", { d: "M13 9l4.5 4-4.5 4" }),
  );
}

// The course of an episode: its plans with their steps, and its spans.

/** A row for each plan: its steps as boxes, and arrows from a failed step to the step where the next plan resumed. */
function courseTable(course) {
  const steps = sorted([...new Set(course.flatMap((row) => [...row.steps.map(([number]) => number), row.from]))]).slice(
    0,
    40,
  );
  const row = (r, at) => [
    at > 0 &&
      r.end?.outcome !== "refused" &&
      r.from > 1 &&
      h(
        "tr",
        { class: "between", "aria-hidden": "true" },
        h("td", {}),
        h("td", { colspan: String(steps.length) }, resumeLine(course[at - 1], r, steps)),
        h("td", {}),
      ),
    h(
      "tr",
      {},
      h("th", { scope: "row" }, h("a", { href: hereAt(r.n) }, `Plan ${r.plan}`)),
      steps.map((n) => stepCell(r, n)),
      h("td", { class: "why" }, how(r)),
    ),
  ];
  return scrolling(
    "Course of the episode",
    h(
      "table",
      { class: steps.length > 5 ? "course long" : "course" },
      h("caption", { class: "unseen" }, "The plans that ran, the steps that each entered, and how each ended"),
      h(
        "thead",
        { class: "unseen" },
        h(
          "tr",
          {},
          h("th", { scope: "col" }, "plan"),
          steps.map((n) => h("th", { scope: "col" }, `step ${n}`)),
          h("th", { scope: "col" }, "end"),
        ),
      ),
      h("tbody", {}, course.map(row)),
    ),
  );
}

function stepCell(row, number) {
  const entered = row.steps.findLast(([n]) => n === number);
  if (!entered) {
    const word = number < row.from ? "done before" : "not reached";
    return h(
      "td",
      {},
      h(
        "span",
        { class: `box ${number < row.from ? "before" : "never"}`, title: `Step ${number}: ${word}` },
        String(number),
        h("span", { class: "unseen" }, ` ${word}`),
      ),
    );
  }
  const bad = row.end && !["finished", "replanned", "refused"].includes(row.end.outcome) && row.end.step === number;
  const word = bad ? row.end.outcome : "entered";
  const [, n, title] = entered;
  return h(
    "td",
    {},
    h(
      "a",
      {
        class: `box ${bad ? "bad" : "done"}`,
        href: hereAt(bad ? row.end.n : n),
        title: `Step ${number}${title ? `: ${title}` : ""}`,
      },
      String(number),
      h("span", { class: "unseen" }, ` ${word}`),
    ),
  );
}

/** The arrow between two rows: from the failed step to the step where the next plan resumes. */
function resumeLine(before, after, steps) {
  const middle = (step) => 27 + 54 * Math.max(0, steps.indexOf(step));
  const from = middle(before.end?.step ?? steps[0]);
  const to = middle(after.from);
  return s(
    "svg",
    { viewBox: `0 0 ${54 * steps.length} 30`, width: 54 * steps.length, height: 30, class: "arrow" },
    s("path", { d: `M${from} 1C${from} 18 ${to} 10 ${to} 26` }),
    s("path", { d: `M${to - 4.5} 21l4.5 6 4.5-6` }),
  );
}

function how(row) {
  if (!row.end) return h("span", { class: "quiet" }, "no end in the trace");
  const words = {
    failed: "failed",
    stopped: "stopped",
    replanned: "asked to replan",
    "gave up": "gave up",
    finished: "ran to its end",
    refused: "refused before it ran",
  };
  const where = ["finished", "refused"].includes(row.end.outcome) ? "" : ` ${place(row.end)}`;
  const good = ["finished", "replanned"].includes(row.end.outcome);
  return [
    h("a", { href: hereAt(row.end.n), class: good ? "" : "bad" }, (words[row.end.outcome] ?? row.end.outcome) + where),
    row.end.message && h("span", { class: "reason" }, row.end.message),
  ];
}

function partsList(spans) {
  const item = ([, kind, name, n, depth]) =>
    h(
      "li",
      { class: `depth-${Math.min(depth, 6)}` },
      h("a", { href: hereAt(n) }, h("span", { class: "what" }, kind), ` ${name}`),
    );
  return h("ul", { class: "parts" }, spans.map(item));
}

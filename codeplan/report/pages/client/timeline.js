// The events of an episode in a list. The events of a span (a trial, a sub-task) stand within it.

const STATES = new WeakMap();

/** The timeline of one page of events. `id` is the episode's. */
function timeline(id, page, total) {
  const root = h("ol", { class: "timeline", id: "timeline" });
  const holders = [{ id: null, list: root }];
  const now = { plan: page.context.plan, step: page.context.step, from: 1, line: null, variables: null };
  for (const span of page.context.spans) open(holders, { id: span, title: "(began before)", n: page.first });
  for (const item of page.items) {
    Object.assign(now, item.state);
    if (item.event === "span_closed") {
      while (holders.length > 1 && holders.some((x) => x.id === item.id)) if (holders.pop().id === item.id) break;
      continue;
    }
    if (item.answered) continue; // the answer of a call shows the call
    const element = item.event === "span_opened" ? open(holders, item) : entry(id, item);
    if (item.event !== "span_opened") holders[holders.length - 1].list.append(element);
    STATES.set(element, { ...now, n: item.n });
  }
  root.setAttribute("aria-label", `Events ${page.first} to ${page.first + page.items.length - 1} of ${total}`);
  return root;
}

function open(holders, item) {
  const list = h("ol", { class: "timeline" });
  const element = h(
    "li",
    { class: "entry part", "data-n": item.n },
    anchor(item),
    h("details", { open: true }, h("summary", {}, h("span", { class: "what" }, item.title)), list),
  );
  holders[holders.length - 1].list.append(element);
  holders.push({ id: item.id, list });
  return element;
}

function entry(id, item) {
  return h(
    "li",
    { class: `entry tone-${item.tone}`, "data-n": item.n },
    anchor(item),
    h("div", { class: "body" }, eventBody(item, id)),
  );
}

/** The event's number, as a link to the event. */
function anchor(item) {
  const when = item.at === undefined ? "" : `${item.at.toFixed(2)} s after the start`;
  return h("a", { class: "seq", href: hereAt(item.n), title: when, "aria-label": `Event ${item.n}` }, String(item.n));
}

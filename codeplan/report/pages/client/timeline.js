// The events of an episode, one below the other, those of a part (a trial, a sub-task) within it.

const MOMENTS = new WeakMap();

/** The timeline of one page of events. `id` is the episode's. */
function timeline(id, page, total) {
  const root = h("ol", { class: "timeline", id: "timeline" });
  const holders = [{ id: null, list: root }];
  const now = { plan: page.carried.plan, step: page.carried.step, from: 1, line: null, variables: null };
  for (const span of page.carried.spans)
    open(holders, { id: span, kind: "part", name: "(began before)", n: page.first });
  for (const item of page.items) {
    follow(now, item);
    if (item.event === "span_closed") {
      while (holders.length > 1 && holders.some((x) => x.id === item.id)) if (holders.pop().id === item.id) break;
      continue;
    }
    const element = item.event === "span_opened" ? open(holders, item) : entry(id, item, now);
    if (item.event !== "span_opened") holders[holders.length - 1].list.append(element);
    MOMENTS.set(element, { ...now, n: item.n });
  }
  root.setAttribute("aria-label", `Events ${page.first} to ${page.first + page.items.length - 1} of ${total}`);
  return root;
}

/** Keep what holds after an event. */
function follow(now, item) {
  switch (item.event) {
    case "plan_drafted":
      return Object.assign(now, { plan: item, step: null, line: null, from: 1 });
    case "plan_started":
      return Object.assign(now, { from: item.start_from, step: null, line: null });
    case "step_entered":
      return Object.assign(now, { step: item.step, line: null, variables: item });
    case "plan_failed":
      return Object.assign(now, { step: item.step, line: item.line, variables: item });
    case "plan_stopped":
      return Object.assign(now, { step: item.step, line: item.line });
    default:
      return now;
  }
}

function open(holders, item) {
  const list = h("ol", { class: "timeline" });
  const element = h(
    "li",
    { class: "entry part", "data-n": item.n },
    anchor(item),
    h("details", { open: true }, h("summary", {}, h("span", { class: "what" }, item.kind), " ", item.name), list),
  );
  holders[holders.length - 1].list.append(element);
  holders.push({ id: item.id, list });
  return element;
}

function entry(id, item, now) {
  const body = (ENTRIES[item.event] || ENTRIES.unknown)(item, id, now);
  return h(
    "li",
    { class: `entry ${item.event}${item.success ? " won" : ""}`, "data-n": item.n },
    anchor(item),
    h("div", { class: "body" }, body),
  );
}

/** The event's number: where to go to come back to it. */
function anchor(item) {
  const when = item.at === undefined ? "" : `${item.at.toFixed(2)} s after the start`;
  return h("a", { class: "seq", href: hereAt(item.n), title: when, "aria-label": `Event ${item.n}` }, String(item.n));
}

// One episode: its header, its course, and its timeline beside the plan.

/** The address of an event of the current episode. */
function hereAt(n) {
  return `#/episode/${shown.id}?event=${n}`;
}

const shown = { id: null, page: null };

async function episodePage(overview, id, query) {
  const about = overview.episodes[id];
  const head = about && (await data.head(id));
  if (!head) return gone(about);
  shown.id = id;
  document.title = `${about.task} · ${overview.name} · codeplan`;
  const wanted = query.get("event");
  const at =
    wanted === null
      ? 0
      : Math.max(
          0,
          head.pages.findLastIndex((first) => first <= Number(wanted)),
        );
  const timelineHolder = h("div", { class: "events" });
  const panel = new PlanPanel();
  const page = { overview, id, head, about, panel, holder: timelineHolder, number: null };
  shown.page = page;
  const parts = [
    episodeHeader(overview, about, head),
    head.course.length > 0 && part("Course", courseTable(head.course)),
    head.spans.length > 0 && part("Parts", partsList(head.spans)),
    part(
      "Timeline",
      quietly(`${plural(head.events, "event")}, ${bytes(head.bytes)}. `, [
        h("kbd", {}, "j"),
        " and ",
        h("kbd", {}, "k"),
        ` move between events${head.plans ? "; the plan follows" : ""}.`,
      ]),
      head.plans > 0 ? h("div", { class: "beside" }, timelineHolder, panel.element) : timelineHolder,
    ),
  ];
  await turnTo(page, at, wanted === null ? null : Number(wanted));
  return parts;
}

function gone(about) {
  return h(
    "p",
    { class: "nothing" },
    about ? `${about.task}: its trace is missing; only its figures are known.` : "There is no such episode.",
  );
}

function episodeHeader(overview, about, head) {
  const column = overview.columns[about.column];
  const facts = factList([
    ["method", column.method],
    ["model", column.scripted ? stamp() : column.model],
    ["environment", column.env],
    ["kind", overview.kinds[about.kind]],
    ["actions", number(about.actions)],
    ["asks", number(about.asks)],
    ["refinements", number(about.refinements)],
    ["model calls", number(about.calls)],
    ["tokens", about.tokens ? number(about.tokens) : null],
    ["dollars", about.money ? `$${about.money.toFixed(4)}` : null],
    ["seconds", number(about.seconds, 2)],
    ["started", moment(head.started)],
    ["codeplan", head.version],
  ]);
  return h(
    "header",
    { class: "opening" },
    !overview.single &&
      h(
        "nav",
        { class: "crumbs", "aria-label": "Episodes" },
        h("a", { href: "#/", id: "up" }, overview.name),
        step(overview, about.id - 1, "Previous", "prev"),
        step(overview, about.id + 1, "Next", "next"),
      ),
    h("h1", {}, about.task, " ", badge(about.state)),
    (about.goal || head.task.goal) && h("p", { class: "lede" }, about.goal || head.task.goal),
    about.reason && h("p", { class: "failure text" }, about.reason),
    about.state === "claimed" &&
      h("p", { class: "note" }, "The method believes that the task is done. No verifier and no environment confirmed it."),
    facts,
  );
}

function step(overview, id, word, rel) {
  const other = overview.episodes[id];
  return other && h("a", { href: `#/episode/${id}`, id: rel, rel, title: other.task }, word);
}

/** Show a page of the events; `event` is the one to go to, or null. */
async function turnTo(page, number, event = null) {
  page.number = number;
  const { head, id, holder } = page;
  const found = head.pages.length ? await data.page(id, number) : null;
  const pager = (place) => head.pages.length > 1 && pagerOf(page, place);
  refill(
    holder,
    pager("above"),
    found ? timeline(id, found, head.events) : h("p", { class: "nothing" }, leftOut(head, number)),
    pager("below"),
  );
  watch(page);
  const wanted = event !== null && holder.querySelector(`[data-n="${event}"]`);
  const start = wanted || holder.querySelector(".tone-start") || holder.querySelector("[data-n]");
  if (start) choose(page, start, false);
  if (wanted) requestAnimationFrame(() => reach(wanted));
}

function leftOut(head, page) {
  const last = (head.pages[page + 1] ?? head.events) - 1;
  return head.events
    ? `Events ${number(head.pages[page])} to ${number(last)} are left out of this file to limit its size. codeplan view shows them all.`
    : "Nothing has happened yet.";
}

function pagerOf(page, place) {
  const { head, number: at, id } = page;
  const link = (to, word) =>
    to >= 0 && to < head.pages.length && to !== at
      ? h("a", { href: `#/episode/${id}?event=${head.pages[to]}` }, word)
      : h("span", { class: "quiet" }, word);
  const go = (e) => {
    e.preventDefault();
    const wanted = Number(new FormData(e.target).get("event"));
    if (Number.isFinite(wanted)) location.hash = hereAt(Math.min(Math.max(0, Math.floor(wanted)), head.events - 1));
  };
  return h(
    "nav",
    { class: "pager", "aria-label": `Pages of the timeline, ${place}` },
    link(0, "First"),
    link(at - 1, "Previous page"),
    h("span", {}, `page ${number(at + 1)} of ${number(head.pages.length)}`),
    link(at + 1, "Next page"),
    link(head.pages.length - 1, "Last"),
    h(
      "form",
      { submit: go },
      h(
        "label",
        {},
        "Event ",
        h("input", { name: "event", inputmode: "numeric", size: "7", value: String(head.pages[at]) }),
      ),
      h("button", { type: "submit" }, "Go"),
    ),
  );
}

/** Let the plan follow the event that is focused, clicked, or scrolled to. */
function watch(page) {
  const list = page.holder.querySelector("#timeline");
  if (!list) return;
  list.addEventListener("click", (e) => take(page, e.target));
  list.addEventListener("focusin", (e) => take(page, e.target));
  page.observer?.disconnect();
  page.observer = new IntersectionObserver(
    (seen) => page.scrolled && seen.filter((x) => x.isIntersecting).forEach((x) => choose(page, x.target, false)),
    { rootMargin: "-30% 0px -68% 0px" },
  );
  for (const element of list.querySelectorAll(".entry:not(.part)")) page.observer.observe(element);
}

function take(page, target) {
  const element = target.closest(".entry");
  page.scrolled = false;
  if (element) choose(page, element, false);
}

/** Make an event the current one. */
function choose(page, element, focus) {
  page.current?.classList.remove("current");
  page.current = element;
  element.classList.add("current");
  const state = STATES.get(element);
  if (state) page.panel.show(state);
  if (focus) reach(element);
}

function reach(element) {
  element.scrollIntoView({ block: "center" });
  element.querySelector(".seq").focus({ preventScroll: true });
}

/** Go to the event after (or before) the current one. */
function move(by) {
  const page = shown.page;
  const all = page ? [...page.holder.querySelectorAll(".entry")] : [];
  const next = all[all.indexOf(page?.current) + by];
  if (next) choose(page, next, true);
}

// Shows the page that the address names; handles keys and the theme; follows a running bench.

const main = document.getElementById("main");
let overview = null;
let drawn = 0;

async function show(focus = true) {
  const turn = ++drawn;
  const [path, query = ""] = location.hash.replace(/^#/, "").split("?");
  const [, place, id] = path.split("/");
  try {
    const parts = await pageOf(place, id, new URLSearchParams(query));
    if (turn !== drawn) return;
    refill(main, parts);
  } catch (error) {
    if (turn !== drawn) return;
    refill(main, h("p", { class: "nothing", role: "alert" }, `This cannot be shown: ${error.message}`));
  }
  main.setAttribute("aria-busy", "false");
  if (focus && !query.includes("event=")) {
    window.scrollTo(0, 0);
    main.focus({ preventScroll: true });
  }
}

async function pageOf(place, id, query) {
  overview = understood(await data.overview());
  stampPrint(overview.columns);
  document.getElementById("nav-skills").hidden = !overview.skills;
  shown.page = shown.id = null;
  if (place === "skills") return skillsPage(await data.skills(), query);
  if (place === "skill") return skillPage(await data.skills(), Number(id));
  if (place === "episode") return episodePage(overview, Number(id), query);
  return overview.single ? episodePage(overview, 0, query) : overviewPage(overview, query);
}

/** Go to an event of the current episode without rebuilding the page. */
async function go() {
  const found = /^#\/episode\/(\d+)\?event=(\d+)$/.exec(location.hash);
  const page = shown.page;
  if (!found || !page || page.id !== Number(found[1]) || !page.holder.isConnected) return show();
  const event = Number(found[2]);
  const at = Math.max(
    0,
    page.head.pages.findLastIndex((first) => first <= event),
  );
  if (at !== page.number) return turnTo(page, at, event);
  const element = page.holder.querySelector(`[data-n="${event}"]`);
  if (element) choose(page, element, true);
}

const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  "[": () => document.getElementById("prev")?.click(),
  "]": () => document.getElementById("next")?.click(),
  u: () => document.getElementById("up")?.click(),
  "/": () => document.getElementById("text")?.focus(),
  t: () => document.getElementById("theme").click(),
  "?": () => document.getElementById("keys").showModal(),
};

const SCROLLS = ["PageDown", "PageUp", "ArrowDown", "ArrowUp", "Home", "End", " "];

function pressed(event) {
  if (SCROLLS.includes(event.key)) scrolls();
  const typing = event.target.closest?.("input, select, textarea, dialog");
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key]();
}

/** The reader scrolls: from now on the plan follows the visible events. */
function scrolls() {
  if (shown.page) shown.page.scrolled = true;
}

const THEMES = ["auto", "light", "dark"];

function theme(name) {
  document.documentElement.dataset.theme = name;
  document.getElementById("theme").textContent = `Theme: ${name}`;
  try {
    localStorage.setItem("codeplan-theme", name);
  } catch {
    // a page that may keep nothing is shown all the same
  }
}

function keptTheme() {
  try {
    const kept = localStorage.getItem("codeplan-theme");
    return THEMES.includes(kept) ? kept : "auto";
  } catch {
    return "auto";
  }
}

/** Every two seconds, show what a running bench has gained, unless the reader is typing. */
async function lookForNews() {
  const busy = document.hidden || main.querySelector("input:focus, select:focus, details.as-table[open]");
  if (!busy) await (shown.page ? newEvents(shown.page) : newEpisodes()).catch(() => {});
  setTimeout(lookForNews, 2000);
}

async function newEpisodes() {
  const before = seen.get("api/overview")?.value;
  const now = await data.overview();
  if (now === before || !/^(#\/?(\?.*)?)?$/.test(location.hash)) return;
  await again();
}

/** Rebuild the page and keep the reader's scroll position, focus and unfolded texts. */
async function again() {
  const [at, focused] = [window.scrollY, nameOf(document.activeElement)];
  const unfolded = [...main.querySelectorAll("details")].filter((d) => d.open).map(placeOf);
  const folded = [...main.querySelectorAll("details")].filter((d) => !d.open).map(placeOf);
  await show(false);
  for (const details of main.querySelectorAll("details")) {
    if (unfolded.includes(placeOf(details))) details.open = true;
    if (folded.includes(placeOf(details))) details.open = false;
  }
  if (focused) main.querySelector(focused)?.focus({ preventScroll: true });
  window.scrollTo(0, at);
}

/** A selector that finds an element again after a rebuild, or null. */
function nameOf(element) {
  if (!main.contains(element) || element === main) return null;
  if (element.id) return `#${element.id}`;
  const name = ["data-sort", "href"].find((n) => element.hasAttribute(n));
  return name ? `[${name}="${CSS.escape(element.getAttribute(name))}"]` : null;
}

/** Identifies an unfolding text: its event and its position there. */
function placeOf(details) {
  const home = details.closest("[data-n], section");
  return `${home?.dataset.n ?? home?.getAttribute("aria-labelledby")} ${[...(home?.querySelectorAll("details") ?? [])].indexOf(details)}`;
}

async function newEvents(page) {
  const head = await data.head(page.id);
  if (!head || head.events === page.head.events || shown.page !== page) return;
  const last = page.number >= page.head.pages.length - 1;
  if (!last) return void (page.head = head);
  const current = page.current?.dataset.n;
  await again();
  const element = current && shown.page.holder.querySelector(`[data-n="${current}"]`);
  if (element) choose(shown.page, element, false);
}

window.addEventListener("hashchange", go);
window.addEventListener("keydown", pressed);
window.addEventListener("wheel", scrolls, { passive: true });
window.addEventListener("touchmove", scrolls, { passive: true });
document
  .getElementById("theme")
  .addEventListener("click", () => theme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % 3]));
document.getElementById("help").addEventListener("click", () => document.getElementById("keys").showModal());
theme(keptTheme());
show(false).then(() => served && setTimeout(lookForNews, 2000));

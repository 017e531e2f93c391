// Builds the page. Data is always set as text: no code here turns a string into markup.

/** An element with attributes, listeners (functions) and children (nodes, texts, lists; null is skipped). */
function h(tag, attributes, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
function s(tag, attributes, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : checked(name, String(value)));
  }
  append(element, children);
  return element;
}

/** Allow only links within this page, and our own pictures. */
function checked(name, value) {
  if (name === "href" && !value.startsWith("#")) throw new Error("a link must stay on the page");
  if (name === "src" && !/^(data:image\/png;base64,|api\/)/.test(value))
    throw new Error("a picture must be one of ours");
  return value;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
}

/** Replace the children of an element. */
function refill(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

function number(value, digits = 0) {
  if (value === null || value === undefined) return "–";
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function percent(share) {
  return `${Math.round(share * 100)}%`;
}

function plural(count, one, many = `${one}s`) {
  return `${number(count)} ${count === 1 ? one : many}`;
}

function bytes(count) {
  if (count < 1e4) return `${number(count)} bytes`;
  return count < 1e6 ? `${number(count / 1e3)} kB` : `${number(count / 1e6, 1)} MB`;
}

/** A Unix time as a date and a time in UTC; null without one. */
function moment(seconds) {
  return seconds === null ? null : `${isoMinutes(seconds)} UTC`;
}

/** Two Unix times as a span in UTC; the date of the second is left out on the same day. */
function timespan(from, to) {
  if (from === null || to === null) return moment(from ?? to);
  const [first, last] = [isoMinutes(from), isoMinutes(to)];
  if (first === last) return moment(from);
  return `${first} to ${first.slice(0, 10) === last.slice(0, 10) ? last.slice(11) : last} UTC`;
}

function isoMinutes(seconds) {
  return new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ");
}

/** Names with values, side by side; those without a value are left out. */
function factList(pairs) {
  const known = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== false);
  return h(
    "dl",
    { class: "facts" },
    known.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
  );
}

/** Announce a sentence to screen readers. */
function announce(sentence) {
  document.getElementById("announcer").textContent = sentence;
}

/** A container that scrolls sideways, also with the keyboard. */
function scrolling(label, ...children) {
  return h("div", { class: "scrolling", tabindex: "0", role: "group", "aria-label": label }, children);
}

/**
 * A table that scrolls if necessary; one of class "cards" has a card for each row on narrow screens. A head is a text,
 * [text, column class], or a cell; rows are cells. The first head holds the table's stamp, if it has one.
 */
function sheet(label, kind, heads, rows, stamped = null) {
  const head = (name) => {
    if (name instanceof Element) return name;
    return Array.isArray(name) ? h("th", { scope: "col", class: name[1] }, name[0]) : h("th", { scope: "col" }, name);
  };
  const shown = heads.filter(Boolean).map(head);
  if (stamped) shown[0].append(" ", stamped);
  return scrolling(
    label,
    h(
      "table",
      { class: kind },
      h("caption", { class: "unseen" }, label),
      h("thead", {}, h("tr", {}, shown)),
      h("tbody", {}, rows),
    ),
  );
}

function quietly(...parts) {
  return h("p", { class: "quiet small" }, parts);
}

/** A section under its heading. */
function part(title, ...children) {
  const id = `part-${title.toLowerCase().replace(/\W+/g, "-")}`;
  return h("section", { "aria-labelledby": id }, h("h2", { id }, title), children);
}

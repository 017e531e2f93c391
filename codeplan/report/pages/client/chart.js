// Parts of plots. Each plot has a title, a description, and its figures in a table below.

const WIDTH = 400;
const MARGIN = { top: 26, right: 14, bottom: 40, left: 46 };

/**
 * A plot of columns with its caption and a folded table. `draw(scales)` returns the elements between the axes. Where
 * the stand-in has a part in it, the plot says so itself, so that a copy of it does, too.
 */
function figure({ title, says, height = 250, x, y, columns, draw, table, left = MARGIN.left }) {
  const id = `plot-${(figure.count = (figure.count || 0) + 1)}`;
  const area = { left, right: WIDTH - MARGIN.right, top: MARGIN.top, bottom: height - MARGIN.bottom };
  const scales = {
    x: (v) => area.left + ((v - x.from) / (x.to - x.from || 1)) * (area.right - area.left),
    y: (v) => area.bottom - ((v - y.from) / (y.to - y.from || 1)) * (area.bottom - area.top),
    area,
  };
  const picture = s(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-labelledby": `${id}-t ${id}-d`, class: "plot" },
    s("title", { id: `${id}-t` }, title),
    s("desc", { id: `${id}-d` }, says),
    axes(x, y, scales),
    draw(scales),
    columns.some((c) => c.scripted) && plotStamp(columns, area),
  );
  return h(
    "figure",
    { class: "figure" },
    h("figcaption", {}, h("strong", {}, title), " ", h("span", { class: "quiet" }, says)),
    picture,
    h(
      "details",
      { class: "as-table" },
      h("summary", {}, "Figures", h("span", { class: "unseen" }, ` of the plot: ${title}`)),
      table(),
    ),
  );
}

function plotStamp(columns, area) {
  const text = mixed(columns) ? "some: scripted stand-in" : "scripted stand-in";
  return s("text", { x: area.right, y: area.top - 14, "text-anchor": "end", class: "plot-stamp" }, text);
}

function axes(x, y, { x: at, y: up, area }) {
  return s(
    "g",
    { class: "axes" },
    y.ticks.map((t) => [
      s("line", { x1: area.left, x2: area.right, y1: up(t.value), y2: up(t.value), class: "grid" }),
      s("text", { x: area.left - 8, y: up(t.value), dy: "0.32em", "text-anchor": "end" }, t.label),
    ]),
    x.ticks.map((t) => s("text", { x: at(t.value), y: area.bottom + 16, "text-anchor": "middle" }, t.label)),
    s("line", { x1: area.left, x2: area.right, y1: area.bottom, y2: area.bottom, class: "axis" }),
    s("text", { x: (area.left + area.right) / 2, y: area.bottom + 34, "text-anchor": "middle", class: "name" }, x.name),
  );
}

/** An axis from zero, with about `count` round ticks. */
function axis(name, most, { count = 5, shown = (v) => number(v), whole = false } = {}) {
  const raw = (most || 1) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  let step = [1, 2, 5, 10].map((m) => m * power).find((candidate) => candidate >= raw);
  if (whole) step = Math.max(1, Math.round(step));
  const ticks = [];
  for (let value = 0; value <= (most || 1) + step * 1e-6; value += step)
    ticks.push({ value, label: shown(value, step) });
  return { name, from: 0, to: Math.max(most || 1, ticks[ticks.length - 1].value), ticks };
}

const shares = {
  name: "success",
  from: 0,
  to: 1,
  ticks: [0, 0.25, 0.5, 0.75, 1].map((value) => ({ value, label: percent(value) })),
};

/** A mark whose shape and colour identify the series. */
function mark(series, x, y, size = 4, title = null) {
  const shape = [
    () => s("circle", { cx: x, cy: y, r: size }),
    () => s("rect", { x: x - size * 0.9, y: y - size * 0.9, width: size * 1.8, height: size * 1.8 }),
    () => s("path", { d: `M${x} ${y - size * 1.2}l${size * 1.15} ${size * 2}h${-size * 2.3}z` }),
    () =>
      s("path", {
        d: `M${x} ${y - size * 1.3}l${size * 1.3} ${size * 1.3}l${-size * 1.3} ${size * 1.3}l${-size * 1.3} ${-size * 1.3}z`,
      }),
  ][series % 4]();
  shape.setAttribute("class", `mark series-${series % 6}`);
  if (title) shape.append(s("title", {}, title));
  return shape;
}

/** Which mark belongs to which series. */
function legend(columns) {
  if (columns.length < 2) return null;
  const entry = (column, at) =>
    h(
      "li",
      {},
      s("svg", { viewBox: "0 0 14 14", "aria-hidden": "true", class: "key" }, mark(at, 7, 7)),
      column.short,
      mixed(columns) && [" ", modelOf(column, columns)],
    );
  return h("ul", { class: "legend" }, columns.map(entry));
}

function sorted(values) {
  return [...values].sort((a, b) => a - b);
}

function median(ordered) {
  if (!ordered.length) return null;
  const half = (ordered.length - 1) / 2;
  return (ordered[Math.floor(half)] + ordered[Math.ceil(half)]) / 2;
}

/** A rate with its interval on a line from 0 to 100%, beside the figures. */
function whisker([won, n, low, high], series = 0) {
  const at = (share) => 4 + share * 112;
  return s(
    "svg",
    { viewBox: "0 0 120 16", class: `whisker-line series-${series % 6}`, "aria-hidden": "true" },
    s("path", { class: "grid", d: "M4 8H116M4 5v6M60 5v6M116 5v6" }),
    n > 0 && s("path", { class: "whisker", d: `M${at(low)} 8H${at(high)}` }),
    n > 0 && mark(series, at(won / n), 8, 3.6),
  );
}

/** A plain table of figures: the first column is text, the others are right-aligned. */
function dataTable(names, rows) {
  const cell = (value, at) =>
    h(at ? "td" : "th", at ? { class: "n" } : { scope: "row" }, typeof value === "number" ? number(value) : value);
  const heads = names.map((name, at) => (at ? [name, "n"] : name));
  const shown = rows.slice(0, 400).map((row) => h("tr", {}, row.map(cell)));
  return sheet(`Figures: ${names.join(", ")}`, "figures", heads, shown);
}

// The plots of a bench.

/** Success against the number of refinements or further trials (AdaPlanner, figures 4a and 4b). */
function refinementPlot(columns) {
  const most = Math.max(1, ...columns.map((c) => c.refinements.length - 1));
  const x = axis("refinements or further trials allowed", most, { whole: true, count: 6 });
  x.from = -0.3;
  x.to = most + 0.3;
  const line =
    (column, at) =>
    ({ x: across, y: up }) => {
      const shift = (at - (columns.length - 1) / 2) * 6;
      const points = column.refinements.map(([k, won, n, low, high]) => ({
        x: across(k) + shift,
        y: up(n ? won / n : 0),
        low: up(low),
        high: up(high),
        k,
        won,
        n,
      }));
      return s(
        "g",
        { class: `series-${at % 6}` },
        s("path", { class: "line", d: points.map((p, i) => `${i ? "L" : "M"}${p.x} ${p.y}`).join("") }),
        points.map((p) => s("path", { class: "whisker", d: `M${p.x} ${p.low}V${p.high}` })),
        points.map((p) =>
          mark(at, p.x, p.y, 4, `${column.short}: ${p.won} of ${p.n} with ${plural(p.k, "refinement")} at most`),
        ),
      );
    };
  return figure({
    title: "Success against refinements",
    says: "Episodes solved with at most this many out-of-plan refinements or trials after the first; bars are 95% Wilson intervals.",
    x,
    y: shares,
    columns,
    draw: (scales) => columns.map((c, at) => line(c, at)(scales)),
    table: () =>
      dataTable(
        ["method", "refinements", "solved", "episodes", "95% interval"],
        columns.flatMap((c) =>
          c.refinements.map(([k, won, n, low, high]) => [c.short, k, won, n, `${percent(low)}–${percent(high)}`]),
        ),
      ),
  });
}

const COSTS = {
  money: { name: "US dollars", shown: (v, step = v) => `$${v.toFixed(step >= 1 ? 0 : step >= 0.01 ? 2 : 4)}` },
  tokens: { name: "tokens", shown: (v) => (v >= 10000 ? `${number(v / 1000)}k` : number(v)) },
  calls: { name: "model calls", shown: (v) => number(v) },
};

/** Success against cost: the share of episodes solved at each cost or less. */
function costPlot(columns, cost) {
  const { name, shown } = COSTS[cost];
  const most = Math.max(0, ...columns.flatMap((c) => c.costs.map(([spent]) => spent)));
  const line =
    (column, at) =>
    ({ x: across, y: up, area }) => {
      let d = `M${across(0)} ${up(0)}`;
      for (const [spent, share] of column.costs) d += `H${across(spent)}V${up(share)}`;
      return s(
        "g",
        { class: `series-${at % 6}` },
        s("path", { class: `line dash-${at % 4}`, d: `${d}H${area.right}` }),
      );
    };
  return figure({
    title: "Success against cost",
    says: `Episodes solved for at most this many ${name} each.`,
    x: axis(`${name} an episode`, most, { shown, count: 5, whole: cost === "calls" }),
    y: shares,
    columns,
    draw: (scales) => columns.map((c, at) => line(c, at)(scales)),
    table: () =>
      dataTable(
        ["method", name, "share solved"],
        columns.flatMap((c) => c.costs.map(([spent, share]) => [c.short, shown(spent), percent(share)])),
      ),
  });
}

/** Trajectory length by kind, with a dot per episode. */
function lengthPlot({ columns, kinds, episodes, seriesOf }) {
  const rows = kinds.map((kind, at) => ({ kind, ends: episodes[at].filter((e) => e.trajectory !== null) }));
  const most = Math.max(1, ...rows.flatMap((r) => r.ends.map((e) => e.trajectory)));
  const pitch = rows.length > 12 ? 18 : 32;
  const height = MARGIN.top + MARGIN.bottom + pitch * Math.max(rows.length, 1);
  const longest = Math.max(4, ...rows.map((r) => r.kind.length));
  return figure({
    title: "Trajectory length",
    says: "Actions of each episode (since its last reset), by kind; hollow where it was not solved; the line is the median.",
    height,
    columns,
    left: Math.min(130, 18 + longest * 6.4),
    x: axis("actions", most, { whole: true }),
    y: {
      from: 0,
      to: rows.length,
      ticks: rows.map((r, at) => ({
        value: rows.length - at - 0.5,
        label: r.kind.length > 18 ? `${r.kind.slice(0, 17)}…` : r.kind,
      })),
    },
    draw: ({ x: across, y: up }) =>
      rows.map((r, at) => strip(r, up(rows.length - at - 0.5), across, pitch, seriesOf)),
    table: () =>
      dataTable(
        ["kind", "episodes", "least", "median", "most"],
        rows.map((r) => {
          const lengths = sorted(r.ends.map((e) => e.trajectory));
          return [
            r.kind,
            lengths.length,
            number(lengths[0]),
            number(median(lengths), 1),
            number(lengths[lengths.length - 1]),
          ];
        }),
      ),
  });
}

function strip({ ends }, middle, across, pitch, seriesOf) {
  const stride = Math.ceil(ends.length / 400);
  const stacked = new Map();
  const dots = ends
    .filter((_, at) => at % stride === 0)
    .map((e) => {
      const place = Math.round(across(e.trajectory) / 5);
      const level = stacked.get(place) || 0;
      stacked.set(place, level + 1);
      const offset = (level % 2 ? -1 : 1) * Math.ceil(level / 2) * 4.2;
      const y = middle + Math.max(-pitch / 2 + 3, Math.min(pitch / 2 - 3, offset));
      const dot = s("circle", {
        cx: place * 5,
        cy: y,
        r: 2.1,
        class: `dot series-${seriesOf.get(e.column) % 6}${e.state === "success" ? "" : " hollow"}`,
      });
      dot.append(s("title", {}, `${e.task}: ${plural(e.trajectory, "action")}, ${OUTCOMES[e.state]}`));
      return dot;
    });
  const lengths = sorted(ends.map((e) => e.trajectory));
  const at = lengths.length ? across(median(lengths)) : null;
  return s(
    "g",
    {},
    dots,
    at !== null && s("path", { class: "median", d: `M${at} ${middle - pitch / 2 + 3}V${middle + pitch / 2 - 3}` }),
  );
}

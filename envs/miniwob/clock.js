// The page's clock, which only `codeplan.clock.advance` moves. Runs before any script of the page.
(() => {
  const RealDate = Date, start = RealDate.UTC(2023, 4, 28, 12);
  const MAX_CALLS = 5000; // callbacks per advance: one that renews itself without delay must not hang the page
  let now = start, last = 0;
  const waiting = new Map();

  const later = (call, delay, args, repeats) => {
    let ms = Math.max(+delay || 0, 0);
    if (ms > 2147483647) ms = 0; // as in browsers
    waiting.set(++last, {id: last, at: now + ms, call, args, every: repeats ? Math.max(ms, 1) : 0});
    return last;
  };
  const forget = (id) => { waiting.delete(id); };
  const run = (call, args) => {
    try {
      typeof call === 'function' ? call(...args) : (0, eval)(call);
    } catch (error) {
      console.error(error); // as a browser's own timers do: an error in one callback does not affect the next
    }
  };
  const next = (end) => {
    let first = null;
    for (const t of waiting.values())
      if (t.at <= end && (!first || t.at < first.at || (t.at === first.at && t.id < first.id))) first = t;
    return first;
  };
  const advance = (ms) => {
    const end = now + ms;
    for (let calls = 0; calls < MAX_CALLS; calls++) {
      const t = next(end);
      if (!t) break;
      now = Math.max(now, t.at);
      t.every ? (t.at = now + t.every) : waiting.delete(t.id);
      run(t.call, t.args);
    }
    now = end;
  };

  window.setTimeout = (call, ms, ...args) => later(call, ms, args, false);
  window.setInterval = (call, ms, ...args) => later(call, ms, args, true);
  window.clearTimeout = window.clearInterval = window.cancelAnimationFrame = forget;
  window.requestAnimationFrame = (call) => later(() => call(now - start), 16, [], false);
  performance.now = () => now - start;
  window.Date = class extends RealDate {
    constructor(...args) { args.length ? super(...args) : super(now); }
    static now() { return now; }
  };
  Object.defineProperty(window, 'codeplan', {value: {clock: Object.freeze({advance})}}); // no page may replace it
})();

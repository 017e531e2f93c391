// What codeplan calls in a page: begin an episode, find elements, report the state. Runs before the page's scripts.
(() => {
  const clock = codeplan.clock;
  const RUNNER_PARTS = new Set(['reward-display', 'click-canvas', 'sync-task-cover', 'attention-canvas']); // parts of MiniWoB++'s runner
  const MAX_STATE_CHARACTERS = 100000;
  const PAUSE = 50; // page milliseconds between two looks at an element that is not clickable yet
  const MAX_MATCHES = 200; // elements that one XPath may click

  // ---------------------------------------------------------------- frames

  // A mouse move waits for a frame. A frame that paints nothing takes 17 ms; one that paints ends at once. So each move
  // paints a point in the window's corner, white on white, invisible to scripts and XPaths.
  const corner = new CSSStyleSheet();
  corner.replaceSync(
    'html::after {content: ""; position: fixed; right: 0; bottom: 0; width: 1px; height: 1px; pointer-events: none}');
  document.adoptedStyleSheets = [corner];
  let moves = 0;
  const paint = () => { corner.cssRules[0].style.backgroundColor = moves++ % 2 ? '#ffffff01' : '#ffffff02'; };
  addEventListener('mousemove', (event) => { if (event.isTrusted) paint(); }, true);

  // ---------------------------------------------------------------- episodes

  const begin = (seed, mode) => {
    if (document.activeElement) document.activeElement.blur();
    core.endEpisode(0);
    core.setDataMode(mode);
    core.EPISODE_MAX_TIME = 1000000; // page milliseconds; the environment limits actions instead
    Math.seedrandom(seed);
    core.startEpisodeReal();
    for (let i = 0; i < 100 && !WOB_TASK_READY; i++) clock.advance(50);
    return {ready: WOB_TASK_READY, goal: goal(), ...state(0)};
  };
  const goal = () => {
    const utterance = core.getUtterance();
    return replaceSurrogates(typeof utterance === 'object' ? utterance.utterance : utterance);
  };
  // Half of a surrogate pair, as truncation leaves it, cannot be sent.
  const replaceSurrogates = (text) => String(text).replace(/\p{Surrogate}/gu, '\ufffd');
  const state = (ms) => {
    if (!WOB_DONE_GLOBAL) clock.advance(ms);
    return {html: WOB_DONE_GLOBAL ? '' : html(), done: WOB_DONE_GLOBAL, reward: +WOB_RAW_REWARD_GLOBAL};
  };

  // Style sheets' hover images: an element must not collapse while its other image loads.
  const images = [];
  const preload = async () => {
    const urls = new Set();
    for (const sheet of document.styleSheets) {
      let rules;
      try { rules = sheet.cssRules; } catch { continue; }
      for (const rule of rules)
        for (const [, url] of (rule.cssText || '').matchAll(/url\("?([^")]+)"?\)/g))
          urls.add(new URL(url, sheet.href || location.href).href);
    }
    await Promise.all([...urls].map((url) => new Promise((loaded) => {
      const image = new Image();
      image.onload = image.onerror = loaded;
      image.src = url;
      images.push(image);
    })));
  };

  // ---------------------------------------------------------------- elements

  let found = [];
  const find = (xpath) => {
    let matches;
    try {
      matches = document.evaluate(xpath, document, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
    } catch (error) {
      return {fault: 'is no valid XPath for elements'};
    }
    const nodes = Array.from({length: matches.snapshotLength}, (_, i) => matches.snapshotItem(i));
    found = [...new Set(nodes.map((n) => n.nodeType === 1 ? n : n.parentElement || n.ownerElement))].filter((e) => e);
    if (!found.length) return {fault: 'matches no element of the page'};
    return found.length > MAX_MATCHES ? {fault: `matches ${found.length} elements; name fewer`} : {count: found.length};
  };

  const isVisible = (e) => {
    const box = e.getBoundingClientRect(), style = getComputedStyle(e);
    return box.width > 0 && box.height > 0 && style.visibility !== 'hidden' && style.display !== 'none';
  };
  // The middle first, then others: another element may cover part of this one.
  const SPOTS = [[.5, .5], [.5, .2], [.5, .8], [.2, .5], [.8, .5], [.1, .1], [.9, .1], [.1, .9], [.9, .9]];
  // In a number field, left of the arrows at its end and right of its text.
  const spotsOf = (e) => e.type === 'number' ? [[Math.max(1 - 22 / e.offsetWidth, .2), .5], ...SPOTS] : SPOTS;
  const name = (e) => e.tagName.toLowerCase() + (e.id ? '#' + e.id : '');
  const spot = (e) => {
    e.scrollIntoView({block: 'nearest', inline: 'nearest'});
    const box = e.getClientRects()[0]; // the first line of a text with several
    let cover = null;
    for (const [fx, fy] of spotsOf(e)) {
      const x = box.left + box.width * fx, y = box.top + box.height * fy, hit = document.elementFromPoint(x, y);
      if (hit && (hit === e || e.contains(hit))) return {x, y, box: [box.left, box.top, box.width, box.height].join()};
      cover = cover || hit;
    }
    return {fault: cover ? `is covered by ${name(cover)}` : 'is out of reach'};
  };

  // Where to click the i-th found element, or why it is not clickable now. Lists are set directly.
  const place = (i, hover) => {
    const e = found[i];
    if (!e.isConnected) return {fault: 'is gone', final: true};
    const list = e.closest('select');
    if (list && !hover) return list.disabled ? {fault: 'is disabled'} : (choose(list, e), {chosen: true});
    if (!isVisible(e)) return {fault: 'is not visible'};
    if (e.disabled && !hover) return {fault: 'is disabled'};
    return spot(e);
  };
  // The same, waiting for the element to become clickable: up to `looks` looks, while time passes.
  const placeSoon = (i, hover, looks) => {
    let at = place(i, hover);
    for (let n = 1; n < looks && at.fault && !at.final; n++) {
      clock.advance(PAUSE);
      at = place(i, hover);
    }
    return at;
  };
  // A real click would open a window of the browser's own.
  const choose = (list, e) => {
    list.focus();
    const option = e.closest('option');
    if (!option) return;
    if (list.multiple) option.selected = !option.selected;
    else option.selected = true;
    for (const type of ['input', 'change']) list.dispatchEvent(new Event(type, {bubbles: true}));
    option.dispatchEvent(new MouseEvent('click', {bubbles: true}));
  };

  // ---------------------------------------------------------------- the state

  const html = () => {
    const parts = [...document.body.children].filter(
      (e) => !RUNNER_PARTS.has(e.id) && !['SCRIPT', 'STYLE'].includes(e.tagName) && (e.id === 'wrap' || isVisible(e)));
    const text = parts.map(clean).join('\n');
    return replaceSurrogates(text.length > MAX_STATE_CHARACTERS ? text.slice(0, MAX_STATE_CHARACTERS) + '… (cut off)' : text);
  };
  const isGoal = (e) => e.id === 'query' && !e.querySelector('svg, canvas, img, input, button, textarea, select');
  const clean = (e) => {
    const copy = e.cloneNode(true);
    const live = [e, ...e.querySelectorAll('*')], copies = [copy, ...copy.querySelectorAll('*')];
    live.forEach((from, i) => annotate(from, copies[i]));
    copies.filter((c) => isGoal(c) || c.matches('script, style')).forEach((c) => c.remove());
    tidy(copy);
    return copy.outerHTML;
  };
  // Remove source layout and comments, which a page does not show.
  const tidy = (root) => {
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_COMMENT), nodes = [];
    while (walk.nextNode()) nodes.push(walk.currentNode);
    for (const node of nodes) {
      if (node.nodeType === Node.COMMENT_NODE || /^\s*\n\s*$/.test(node.data)) node.remove();
      else if (!node.parentElement.closest('pre, textarea')) node.data = node.data.replace(/\s+/g, ' ');
    }
  };
  const mark = (e, attribute, is) => { is ? e.setAttribute(attribute, '') : e.removeAttribute(attribute); };
  const annotate = (e, copy) => {
    for (const {name} of [...copy.attributes]) if (/^data-(wob_|tampered)/.test(name)) copy.removeAttribute(name);
    if (e instanceof HTMLInputElement && /^(checkbox|radio)$/.test(e.type)) mark(copy, 'checked', e.checked);
    else if (e instanceof HTMLInputElement) copy.setAttribute('value', e.value);
    else if (e instanceof HTMLTextAreaElement) copy.textContent = e.value;
    else if (e instanceof HTMLOptionElement) mark(copy, 'selected', e.selected);
    if (e === document.activeElement && e !== document.body) mark(copy, 'focused', true);
  };

  // The rectangle of a picture.
  const area = () => {
    const box = document.getElementById('wrap').getBoundingClientRect();
    return {x: 0, y: 0, width: Math.max(box.right, 160), height: Math.max(box.bottom, 210)};
  };

  Object.freeze(Object.assign(codeplan, {begin, state, preload, find, place, placeSoon, area}));
})();

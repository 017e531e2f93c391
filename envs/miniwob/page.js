// What codeplan calls in a page: begin an episode, find elements, report the state. Runs before the page's scripts.
(() => {
  const clock = codeplan.clock;
  const RUNNER_PARTS = new Set(['reward-display', 'click-canvas', 'sync-task-cover', 'attention-canvas']); // parts of MiniWoB++'s runner
  const MAX_STATE_CHARACTERS = 100000;
  const PAUSE = 50; // page milliseconds between two looks at an element that is not clickable yet
  const MAX_MATCHES = 200; // elements that one XPath may click or describe
  const MAX_NODES = 50000; // nodes that one XPath may match, and that a state may copy
  const MAX_DEPTH = 200; // deeper elements are left out of a state
  const MAX_ATTRIBUTES = 50, MAX_ATTRIBUTE = 5000, MAX_TEXT = 1000; // of an element; in characters

  // ---------------------------------------------------------------- frames

  // A mouse move waits for a frame. A frame that paints nothing takes 17 ms; one that paints ends at once. So each move
  // paints a point in the window's corner, white on white, invisible to scripts and XPaths.
  const pixel = new CSSStyleSheet();
  pixel.replaceSync(
    'html::after {content: ""; position: fixed; right: 0; bottom: 0; width: 1px; height: 1px; pointer-events: none}');
  document.adoptedStyleSheets = [pixel];
  let moves = 0;
  const paint = () => { pixel.cssRules[0].style.backgroundColor = moves++ % 2 ? '#ffffff01' : '#ffffff02'; };
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
  const evaluate = (xpath) => {
    let matches;
    try {
      matches = document.evaluate(xpath, document, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
    } catch (error) {
      return {fault: 'is no valid XPath for elements'};
    }
    const count = matches.snapshotLength;
    if (count > MAX_NODES) return {fault: `matches ${count} elements; name fewer`};
    const nodes = Array.from({length: count}, (_, i) => matches.snapshotItem(i));
    const elements = new Set(nodes.map((n) => n.nodeType === 1 ? n : n.parentElement || n.ownerElement));
    elements.delete(null);
    elements.delete(undefined);
    return elements.size > MAX_MATCHES ? {fault: `matches ${elements.size} elements; name fewer`} : {elements: [...elements]};
  };
  const find = (xpath) => {
    const {fault, elements} = evaluate(xpath);
    if (fault) return {fault};
    found = elements;
    return found.length ? {count: found.length} : {fault: 'matches no element of the page'};
  };
  // The matching elements as data.
  const describe = (xpath) => {
    const {fault, elements} = evaluate(xpath);
    if (fault) return {fault};
    const described = elements.map(describeElement);
    return JSON.stringify(described).length > MAX_STATE_CHARACTERS
      ? {fault: `matches more than ${MAX_STATE_CHARACTERS} characters; name fewer elements`} : {elements: described};
  };
  const describeElement = (e) => {
    const copy = e.cloneNode(false), box = e.getBoundingClientRect();
    annotate(e, copy);
    const own = [...copy.attributes].slice(0, MAX_ATTRIBUTES).map(({name, value}) => [cut(name, 100), cut(value, MAX_TEXT)]);
    return {
      tag: cut(e.localName, 100),
      text: cut((e.value !== undefined && e.tagName === 'TEXTAREA' ? e.value : e.textContent).replace(/\s+/g, ' ').trim(), MAX_TEXT),
      attributes: Object.fromEntries(own),
      visible: isVisible(e),
      box: [box.left, box.top, box.width, box.height].map((n) => Math.round(n * 10) / 10),
    };
  };
  const cut = (text, most) => replaceSurrogates(text.length > most ? text.slice(0, most) + '…' : text);

  const isVisible = (e) => {
    const box = e.getBoundingClientRect(), style = getComputedStyle(e);
    return box.width > 0 && box.height > 0 && style.visibility !== 'hidden' && style.display !== 'none';
  };
  // The middle first, then others: another element may cover part of this one.
  const SPOTS = [[.5, .5], [.5, .2], [.5, .8], [.2, .5], [.8, .5], [.1, .1], [.9, .1], [.1, .9], [.9, .9]];
  // In a number field, left of the arrows at its end and right of its text.
  // In a date or time field, on its first part: there the keys begin.
  const spotsOf = (e) => {
    if (e.type === 'number') return [[Math.max(1 - 22 / e.offsetWidth, .2), .5], ...SPOTS];
    return isDateField(e) ? [[Math.min(8 / e.offsetWidth, .5), .5], ...SPOTS] : SPOTS;
  };
  const isDateField = (e) => e instanceof HTMLInputElement && /^(date|datetime-local|month|time|week)$/.test(e.type);
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

  // The left top corner of the i-th found element.
  const corner = (i) => {
    const box = found[i].getBoundingClientRect();
    return {x: box.left, y: box.top};
  };
  // Scroll the first found element, or the nearest one around it that scrolls.
  const scrollFirst = (right, down) => {
    let e = found[0];
    while (e && e.scrollHeight <= e.clientHeight) e = e.parentElement;
    (e || document.scrollingElement).scrollBy(right, down);
  };
  // Let time pass. The state then advances the clock no further.
  const pass = (ms) => { if (!WOB_DONE_GLOBAL) clock.advance(ms); };
  // Of the element in focus: its type if it is a date or time field; else an empty text.
  const focusedDateField = () => isDateField(document.activeElement) ? document.activeElement.type : '';
  // Empty a date or time field at once. Others are emptied by keys: select all, then backspace.
  const clearDateField = () => {
    const field = document.activeElement;
    if (!isDateField(field)) return false;
    field.value = '';
    for (const type of ['input', 'change']) field.dispatchEvent(new Event(type, {bubbles: true}));
    return true;
  };

  // ---------------------------------------------------------------- the state

  const html = () => {
    const room = {nodes: MAX_NODES}, parts = [];
    for (const e of document.body.children) {
      if (room.nodes-- <= 0) break;
      if (RUNNER_PARTS.has(e.id) || ['SCRIPT', 'STYLE'].includes(e.tagName) || !(e.id === 'wrap' || isVisible(e))) continue;
      const copy = copyOf(e, room, 0, false);
      if (copy) parts.push(copy.outerHTML);
    }
    const text = parts.join('\n'), whole = room.nodes > 0 && text.length <= MAX_STATE_CHARACTERS;
    return replaceSurrogates(whole ? text : text.slice(0, MAX_STATE_CHARACTERS) + '… (cut off)');
  };
  const isGoal = (e) => e.id === 'query' && !e.querySelector('svg, canvas, img, input, button, textarea, select, [style], span:empty');
  // A copy of a node with its live state, without source layout, comments, scripts and the goal; null for these.
  const copyOf = (node, room, depth, keepsSpace) => {
    if (room.nodes-- <= 0 || depth > MAX_DEPTH) return null;
    if (node.nodeType === Node.TEXT_NODE) return copyOfText(node.data.slice(0, MAX_STATE_CHARACTERS), keepsSpace);
    if (node.nodeType !== Node.ELEMENT_NODE || /^(script|style)$/i.test(node.localName) || isGoal(node)) return null;
    const copy = node.cloneNode(false);
    for (const {name, value} of [...copy.attributes])
      if (value.length > MAX_ATTRIBUTE) copy.setAttribute(name, cut(value, MAX_ATTRIBUTE));
    annotate(node, copy);
    if (node instanceof HTMLTextAreaElement) return copy;
    const spaced = keepsSpace || node.localName === 'pre';
    for (let child = node.firstChild; child && room.nodes > 0; child = child.nextSibling) {
      const inner = copyOf(child, room, depth + 1, spaced);
      if (inner) copy.appendChild(inner);
    }
    return copy;
  };
  const copyOfText = (text, keepsSpace) => {
    if (/^\s*\n\s*$/.test(text)) return null;
    return document.createTextNode(keepsSpace ? text : text.replace(/\s+/g, ' '));
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

  Object.freeze(Object.assign(codeplan, {
    begin, state, preload, find, describe, place, placeSoon, corner, scrollFirst, pass, focusedDateField, clearDateField, area,
  }));
})();

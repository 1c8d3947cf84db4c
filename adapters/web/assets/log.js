// The conversation as it is shown. Each item has an id and a seq: a later seq of the same id takes the place of the
// item that is there.
//
// A reader at the end follows along: what comes is shown from its beginning, however long it is. Whoever reads further
// up is not moved, whatever changes above or below.
import { cardNode, keepTyped } from './card.js';
import { now } from './clock.js';
import { dress } from './code.js';
import { el, time } from './dom.js';
import { about } from './wire.js';

// agent is who answers here.
export const { agent = 'gatehouse' } = document.getElementById('chat')?.dataset ?? {};

const near = 80; // pixels from the end at which the reader follows along
const gap = 8; // pixels above an item that is shown from its beginning
const silent = new Set(['announcement', 'working', 'review']); // for other Shells; not an item; shown inside its card

export class Log {
  // node is the conversation, latest the button that leads to what is new, news what reads out a line.
  // press(continuation, own) presses a button, and returns an error's message or a card to review, or neither.
  constructor(node, { latest, news }, press) {
    Object.assign(this, { node, latest, news, press, items: new Map(), own: new Map(), unread: null, oldest: Infinity });
    this.seen = this.sees();
    node.addEventListener('scroll', () => {
      this.seen = this.sees();
      if (this.seen.end) this.read();
    }, { passive: true });
    new ResizeObserver(() => this.stay(this.seen)).observe(node); // such as when a phone shows its keyboard
    latest.addEventListener('click', () => {
      if (this.unread?.isConnected) this.show(this.unread);
      else this.toEnd();
      this.read();
      node.focus({ preventScroll: true });
    });
  }

  // take shows what an envelope has.
  take(envelope) {
    const response = envelope.response;
    for (const directive of response.action_directives ?? []) this.directive(directive);
    const failure = about(response);
    if (response.error && failure.id) this.item({ ...failure, kind: 'error' }, { text: response.error.message });
  }

  directive(d) {
    const a = about(d);
    if (silent.has(a.kind)) return;
    const payload = d.payload ?? {};
    const text = payload.text ?? payload.message ?? payload.fallback_message ?? '';
    if (a.id || text) this.item(a, { ...payload, text }, d);
  }

  item(a, payload, directive) {
    const known = this.items.get(a.id);
    const seq = Number(a.seq ?? 0);
    if (seq) this.oldest = Math.min(this.oldest, seq);
    if (known && seq <= known.seq) {
      this.live?.settle(a)?.remove();
      return;
    }
    if (!known && a.kind === 'said' && this.own.has(a.request_id)) {
      this.adopt(a, seq);
      return;
    }
    const node = this.draw(a, payload, directive);
    const entry = { seq, first: known?.first ?? seq, at: Date.parse(a.at) || now(), node, text: payload.text };
    if (a.id) this.items.set(a.id, entry);
    if (known) this.replace(known, entry);
    else this.place(entry, this.live?.settle(a));
  }

  // adopt makes the bubble of an own message the one that the engine tells of.
  adopt(a, seq) {
    const node = this.own.get(a.request_id);
    this.own.delete(a.request_id);
    const entry = { seq, first: seq, at: Date.parse(a.at) || now(), node };
    this.items.set(a.id, entry);
    progress(node, '');
    node.classList.remove('sending', 'unsent', 'failed');
    node.querySelector('.by').append(time(a.at) ?? '');
    if (node.order?.at === Infinity) this.put(entry);
  }

  draw(a, payload, directive) {
    switch (a.kind) {
      case 'card': return cardNode(directive, this.press);
      case 'said': return bubble(payload.text, a);
      case 'steps': return el('p', { class: 'item steps', 'aria-live': 'off' }, payload.text);
      case 'notice': case 'private': return el('p', { class: `item ${a.kind}` }, payload.text);
      case 'error': {
        const text = el('div', { class: 'text' }, payload.text);
        return el('div', { class: 'item error' }, by(agent, a), text, this.actions(a));
      }
      default: {
        const text = body(payload.text, a.html);
        dress(text, (said) => { this.news.textContent = said; });
        return el('article', { class: 'item reply' }, by(agent, a), text);
      }
    }
  }

  // actions are the buttons below an error.
  actions(a) {
    if (!a.actions?.length) return null;
    const told = el('p', { class: 'progress', role: 'status' });
    const buttons = a.actions.map((action) => el('button', {
      type: 'button',
      onclick: async () => {
        buttons.forEach((b) => { b.disabled = true; });
        const { error } = await this.press(action.continuation, null, (text) => { told.textContent = text; });
        told.textContent = error ?? '';
        if (error) buttons.forEach((b) => { b.disabled = false; });
      },
    }, action.label));
    return [el('div', { class: 'buttons' }, buttons), told];
  }

  // say shows an own message before the engine tells of it, and returns what becomes of it meanwhile.
  say(id, text) {
    const node = bubble(text, { request_id: id });
    node.classList.add('sending');
    this.own.set(id, node);
    this.put({ at: Infinity, first: Infinity, node }); // a reader further up is not moved: it may be another tab's
    const own = () => this.own.get(id) === node;
    const as = (state, ...told) => {
      if (!own()) return; // the engine tells of it now
      node.classList.remove('sending', 'unsent', 'failed');
      if (state) node.classList.add(state);
      progress(node, ...told);
    };
    return {
      arrived: () => as('', ''),
      unsent: (told) => as('unsent', told),
      failed: (told, ...buttons) => as('failed', told, ...buttons),
      gone: () => own() && this.own.delete(id) && node.remove(),
    };
  }

  // clear drops what the engine told of: it tells anew.
  clear() {
    for (const { node } of this.items.values()) node.remove();
    this.items.clear();
    this.oldest = Infinity;
    this.ready = false;
  }

  // begin puts a node at the beginning, for good.
  begin(node) {
    this.first = node;
    node.order = { at: -Infinity, first: -Infinity };
    this.node.prepend(node);
  }

  // before takes what was said earlier, without moving the reader.
  before(envelopes) {
    this.still(() => {
      this.early = true;
      envelopes.forEach((envelope) => this.take(envelope));
      this.early = false;
    });
  }

  // lastSaid is the last message of the person's own, { id, text }; undefined if there is none, or it has files.
  lastSaid() {
    const last = [...this.node.querySelectorAll('.said')].at(-1)?.words;
    return last && last.id && !/^\[attachment: .*\]$/m.test(last.text) ? last : undefined;
  }

  // grow shows and changes a node at the end, to which more comes. A reader at the end follows it from its beginning.
  grow(node, change) {
    const { end } = this.sees();
    if (!node.isConnected) this.put({ at: Number.MAX_VALUE, first: 0, node }); // before what is not sent
    this.still(change);
    if (end) this.show(node);
  }

  // place shows an item that comes, in the place of a node if one is given.
  place(entry, instead) {
    const { end } = this.sees();
    this.put(entry);
    if (this.early) return;
    if (instead) {
      this.still(() => {
        if (this.seen.item === instead) this.seen.item = entry.node;
        instead.remove();
      });
      return;
    }
    if (end) {
      if (this.ready) this.show(entry.node); // else more comes at once
      return;
    }
    this.latest.hidden = false;
    this.unread ??= entry.node;
  }

  // put puts an item where it belongs in time.
  put({ at, first, node }) {
    this.still(() => {
      node.order = { at, first };
      let before = null;
      for (let n = this.node.lastElementChild; n && later(n.order, node.order); n = n.previousElementSibling) {
        if (n !== node) before = n;
      }
      this.node.insertBefore(node, before);
    });
  }

  // replace shows an item anew. Of a card that changes, only what is new is read out.
  replace({ node: old, text: before }, { node, text }) {
    const field = old.contains(document.activeElement) ? document.activeElement : null;
    node.setAttribute('aria-live', 'off');
    node.order = old.order;
    this.still(() => {
      old.replaceWith(node);
      if (this.seen.item === old) this.seen.item = node;
      keepTyped(old, node, field);
    });
    if (this.ready) this.news.textContent = added(before, text);
  }

  // sees is what the reader sees: whether it is the end, the first item, and how far its top is from that of the view.
  sees() {
    const { scrollHeight, scrollTop, clientHeight, children } = this.node;
    const item = [...children].find((n) => n !== this.first && this.topOf(n) + n.offsetHeight > scrollTop);
    return { end: scrollHeight - scrollTop - clientHeight < near, item, at: item && this.topOf(item) - scrollTop };
  }

  // stay shows again what the reader has seen.
  stay({ end, item, at }) {
    if (end) this.toEnd();
    else if (item?.isConnected) this.node.scrollTop = this.topOf(item) - at;
  }

  // still changes the conversation without moving the reader.
  still(change) {
    if (this.early) {
      change();
      return;
    }
    this.seen = this.sees();
    change();
    this.stay(this.seen);
  }

  // show shows an item from its beginning, and what follows it.
  show(node) {
    this.node.scrollTop = Math.min(this.node.scrollHeight - this.node.clientHeight, this.topOf(node) - gap);
    this.seen = this.sees();
  }

  topOf(node) { return node.offsetTop - this.node.offsetTop; }

  // read: the reader knows what is new.
  read() {
    this.latest.hidden = true;
    this.unread = null;
  }

  toEnd() {
    this.node.scrollTop = this.node.scrollHeight;
    this.read();
  }

  // settled: what was said before is there. From now on, what comes is read out.
  settled() {
    if (this.ready) return;
    this.ready = true;
    this.node.removeAttribute('aria-busy');
    const last = this.node.lastElementChild;
    if (last && last !== this.first && !last.matches('.said') && this.sees().end) this.show(last); // their own words people know
  }
}

const later = (a, b) => a.at > b.at || (a.at === b.at && a.first > b.first);

export const by = (name, { at, late }) => (
  el('p', { class: 'by' }, el('b', {}, name), at ? time(at) : null, late ? el('span', {}, 'delayed') : null)
);

function bubble(text, a) {
  const said = el('div', { class: 'text', dir: 'auto' }, text);
  const node = el('article', { class: 'item said' }, by('You', a), said, el('p', { class: 'progress' }));
  node.words = { id: a.request_id, text };
  return node;
}

function progress(node, text, ...more) {
  node.querySelector('.progress')?.replaceChildren(text, ...more);
}

// added are the lines that a card's text has and its text before did not have.
function added(before, text) {
  const known = new Set(before.split('\n'));
  return text.split('\n').filter((line) => !known.has(line)).map((line) => line.replace(/\.$/, '')).join('. ');
}

// body is a text, or the HTML that the engine has made of it.
function body(text, html) {
  if (typeof html !== 'string') return el('div', { class: 'text' }, text);
  const node = el('div', { class: 'markup' });
  node.innerHTML = html;
  return node;
}

// The conversation as it is shown. Each item has an id and a seq: a later seq of the same id takes the place of the item that is there.
import { cardNode, keepTyped } from './card.js';
import { now } from './clock.js';
import { el, time } from './dom.js';
import { about } from './wire.js';

const near = 80; // pixels from the end at which the reader follows along
const silent = new Set(['announcement', 'working', 'review']); // for other Shells; not an item; shown inside its card

export class Log {
  // press(continuation, own) presses a button, and returns an error's message or a card to review, or neither.
  constructor(node, latest, press) {
    Object.assign(this, { node, latest, press, items: new Map(), own: new Map() });
    this.stuck = true; // to the end
    node.addEventListener('scroll', () => {
      this.stuck = this.following();
      if (this.stuck) latest.hidden = true;
    }, { passive: true });
    new ResizeObserver(() => this.stuck && this.toEnd()).observe(node); // such as when a phone shows its keyboard
    latest.addEventListener('click', () => {
      this.toEnd();
      node.focus();
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
    if (known && seq <= known.seq) return;
    if (!known && a.kind === 'said' && this.own.has(a.request_id)) {
      this.adopt(a, seq);
      return;
    }
    const node = this.draw(a, payload, directive);
    const entry = { seq, first: known?.first ?? seq, at: Date.parse(a.at) || now(), node };
    if (a.id) this.items.set(a.id, entry);
    if (known) this.replace(known.node, node);
    else this.place(entry);
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
    if (node.order?.at !== Infinity) return;
    const scroll = this.node.scrollTop;
    this.place(entry);
    if (!this.following()) this.node.scrollTop = scroll;
  }

  draw(a, payload, directive) {
    switch (a.kind) {
      case 'card': return cardNode(directive, this.press);
      case 'said': return bubble(payload.text, a);
      case 'steps': return el('p', { class: 'item steps', 'aria-live': 'off' }, payload.text);
      case 'notice': case 'private': return el('p', { class: `item ${a.kind}` }, payload.text);
      case 'error': return el('div', { class: 'item error' }, by('gatehouse', a), el('div', { class: 'text' }, payload.text), this.actions(a));
      default: return el('article', { class: 'item reply' }, by('gatehouse', a), body(payload.text, a.html));
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
    const node = bubble(text, {});
    node.classList.add('sending');
    this.own.set(id, node);
    this.place({ at: Infinity, first: Infinity, node });
    this.toEnd();
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
  }

  // place puts an item where it belongs in time.
  place({ at, first, node }) {
    const follow = this.following();
    node.order = { at, first };
    let before = null;
    for (let n = this.node.lastElementChild; n && later(n.order, node.order); n = n.previousElementSibling) if (n !== node) before = n;
    this.node.insertBefore(node, before);
    this.followed(follow);
  }

  replace(old, node) {
    const follow = this.following();
    const focused = old.contains(document.activeElement);
    keepTyped(old, node);
    node.order = old.order;
    old.replaceWith(node);
    if (focused) {
      node.tabIndex = -1;
      node.focus({ preventScroll: true });
    }
    this.followed(follow);
  }

  following() { return this.node.scrollHeight - this.node.scrollTop - this.node.clientHeight < near; }

  followed(follow) {
    if (follow) this.toEnd();
    else this.latest.hidden = false;
  }

  toEnd() {
    this.node.scrollTop = this.node.scrollHeight;
    this.latest.hidden = true;
  }

  // settled: what was said before is there. From now on, what comes is read out.
  settled() { this.node.removeAttribute('aria-busy'); }
}

const later = (a, b) => a.at > b.at || (a.at === b.at && a.first > b.first);

const by = (name, a) => el('p', { class: 'by' }, el('b', {}, name), a.at ? time(a.at) : null, a.late ? el('span', {}, 'delayed') : null);

const bubble = (text, a) => el('article', { class: 'item said' }, by('You', a), el('div', { class: 'text' }, text), el('p', { class: 'progress' }));

function progress(node, text, ...more) {
  node.querySelector('.progress')?.replaceChildren(text, ...more);
}

// body is a text, or the HTML that the engine has made of it.
function body(text, html) {
  if (typeof html !== 'string') return el('div', { class: 'text' }, text);
  const node = el('div', { class: 'markup' });
  node.innerHTML = html;
  return node;
}

// The person's conversations: a list beside the chat, on a phone a drawer. It is got once, and kept as it is by what the
// stream tells of changes.
import { at, place } from './base.js';
import { el, time } from './dom.js';
import { read, write } from './keep.js';
import { verdictOf } from './verdict.js';
import { as, away, who } from './who.js';

const $ = (id) => document.getElementById(id);
const address = at('/conversations');
const unhurried = 200; // milliseconds after the last key until a search begins
const failed = 'The list could not be reached. Try again in a moment.';

// ask asks for a part of the list, or for a change; it throws an Error that a person can read.
async function ask(query, form) {
  const options = { headers: as, credentials: 'same-origin', cache: 'no-store', redirect: 'manual' };
  if (form) Object.assign(options, { method: 'POST', body: new URLSearchParams({ as: who, ...form }) });
  const response = await fetch(`${address}?${new URLSearchParams(query)}`, options)
    .catch(() => { throw new Error(failed); });
  const json = (response.headers.get('Content-Type') ?? '').startsWith('application/json');
  const answer = json ? await response.json().catch(() => null) : null;
  if (response.ok && answer) return answer;
  throw new Error(answer?.error ?? verdictOf(response)?.message ?? failed);
}

// Seen is what the person has seen in this browser: the place of the last mail of each conversation that was open here.
class Seen {
  constructor() {
    this.key = `${place} seen ${who}`;
    if (!this.all.since) this.keep({ since: Date.now() });
  }

  get all() {
    try {
      return JSON.parse(read('localStorage', this.key)) ?? this.here ?? {};
    } catch {
      return this.here ?? {};
    }
  }

  keep(all) {
    this.here = all; // storage may be switched off
    write('localStorage', this.key, JSON.stringify(all));
  }

  // has reports whether there is nothing new in a conversation.
  has({ session, last, at: changed }) {
    const { since, places = {} } = this.all;
    return session in places ? last <= places[session] : Date.parse(changed) <= since;
  }

  takes({ session, last }) {
    const { since, places = {} } = this.all;
    if (places[session] >= last) return;
    const most = 500; // conversations; the newest
    const rest = Object.entries(places).filter(([name]) => name !== session).slice(1 - most);
    this.keep({ since, places: Object.fromEntries([...rest, [session, last]]) });
  }
}

export class Chats {
  // session is the one that is open; renamed(title) is called with its title, gone() when it was deleted.
  constructor({ session, token, renamed, gone }) {
    Object.assign(this, { session, token, renamed, gone, all: new Map(), seen: new Seen(), next: '' });
    let timer;
    $('search').addEventListener('input', () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.load(), unhurried);
    });
    $('more').addEventListener('click', () => this.load(this.next));
    document.addEventListener('conversations', (e) => this.heard(e.detail));
    document.addEventListener('visibilitychange', () => this.draw());
    addEventListener('storage', (e) => e.key === this.seen.key && this.draw());
    this.dialogs();
    this.load();
  }

  get search() { return $('search').value.trim(); }

  // load gets the list anew, or the part of it after a place.
  async load(before) {
    const search = this.search;
    try {
      const { conversations, next } = await ask({ ...(search && { q: search }), ...(before && { before }) });
      if (search !== this.search) return;
      if (!before) this.all.clear();
      this.next = next;
      conversations.forEach((c) => this.all.set(c.session, c));
      this.fault = '';
    } catch (e) {
      this.fault = e.message;
    }
    this.draw();
  }

  // heard takes changes: a conversation without a title was deleted.
  heard(changes) {
    if (away()) return;
    for (const c of changes) {
      if (c.session === this.session) {
        if (!c.title) this.gone();
        else this.renamed(c.title);
      }
      const fits = c.title.toLowerCase().includes(this.search.toLowerCase());
      if (c.title && fits) this.all.set(c.session, c);
      else this.all.delete(c.session);
    }
    this.draw();
  }

  draw() {
    const sorted = [...this.all.values()].sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
    const open = this.all.get(this.session);
    if (open && !document.hidden) this.seen.takes(open);
    const marked = sorted.filter((c) => c.session !== this.session && (c.waits || !this.seen.has(c)));
    $('mineopen').querySelector('.mark').hidden = !marked.length;
    const field = document.activeElement?.closest?.('#list [data-session]')?.dataset.session;
    const kind = document.activeElement?.className;
    const opened = $('list').querySelector('.acts:not([hidden])')?.closest('[data-session]').dataset.session;
    $('list').replaceChildren(...sorted.map((c) => this.row(c, c.session === opened)));
    if (field) {
      const row = [...$('list').children].find((li) => li.dataset.session === field);
      [...row?.querySelectorAll('a, button') ?? []].find((n) => n.className === kind)?.focus();
    }
    $('more').hidden = !this.next;
    const none = this.search ? 'No title has that.' : 'Your conversations will be listed here.';
    $('found').textContent = this.fault || (sorted.length ? '' : none);
  }

  row(c, opened) {
    const fresh = c.session !== this.session && !this.seen.has(c);
    const acts = el('div', { class: 'acts', hidden: !opened },
      el('button', { type: 'button', class: 'quiet', onclick: () => this.ask('rename', c) }, 'Rename'),
      el('button', { type: 'button', class: 'quiet bad', onclick: () => this.ask('delete', c) }, 'Delete'));
    const toggle = el('button', {
      type: 'button', class: 'quiet menu', 'aria-label': `Rename or delete ${c.title}`, 'aria-expanded': String(opened),
      onclick: () => {
        acts.hidden = !acts.hidden;
        toggle.setAttribute('aria-expanded', String(!acts.hidden));
      },
    }, '…');
    const mark = c.waits
      ? el('span', { class: 'mark waits', title: 'An approval is open' }, el('span', { class: 'unseen' }, 'An approval is open'))
      : fresh && el('span', { class: 'mark', title: 'New' }, el('span', { class: 'unseen' }, 'New'));
    const link = el('a', {
      class: 'open', href: at(`/?session=${encodeURIComponent(c.session)}`), 'aria-current': c.session === this.session && 'page',
    }, el('span', { class: 'title', dir: 'auto' }, c.title), mark || null, time(c.at));
    return el('li', { 'data-session': c.session, class: fresh && 'fresh' }, link, toggle, acts);
  }

  // ask opens the dialog of a change; what it is about may change meanwhile.
  ask(change, c) {
    const dialog = $(change);
    this.about = c;
    for (const acts of document.querySelectorAll('#list .acts')) acts.hidden = true;
    this.draw();
    dialog.querySelector('.fault').hidden = true;
    if (change === 'rename') $('title').value = this.all.get(c.session)?.title ?? c.title;
    else dialog.querySelector('.which').textContent = c.title;
    $('conversations').matches(':popover-open') && $('conversations').hidePopover();
    dialog.returnValue = '';
    dialog.showModal();
    if (change === 'rename') $('title').select();
  }

  dialogs() {
    for (const change of ['rename', 'delete']) {
      const dialog = $(change);
      dialog.querySelector('form').addEventListener('submit', async (e) => {
        if (!e.submitter?.value) return; // cancelled
        e.preventDefault();
        const { session } = this.about;
        const title = $('title').value;
        try {
          await ask({}, { do: change, session, title: change === 'rename' ? title : '', csrf: this.token });
        } catch (fault) {
          dialog.querySelector('.fault').textContent = fault.message;
          dialog.querySelector('.fault').hidden = false;
          return;
        }
        dialog.close();
        const c = { ...this.all.get(session) ?? this.about, title: change === 'rename' ? title.trim() : '' };
        this.heard([c]);
      });
    }
  }
}

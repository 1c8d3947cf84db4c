// The list of approvals, as it is now: new ones appear, decided ones leave, what one reads stays where it is.
import { as } from './who.js';

const settle = 150; // milliseconds in which changes are taken together
const wide = matchMedia('(min-width: 60rem)');

export class List {
  // news is read out. selected is called with an approval and its page's address where there is room beside the list,
  // changed with an approval that has changed.
  constructor(root, news, { selected, changed }) {
    Object.assign(this, { root, told: news, selected, changed });
    root.addEventListener('click', (e) => this.clicked(e));
    root.addEventListener('change', () => this.tick());
    wide.addEventListener('change', () => {
      if (!this.current || this.current.dataset.approval !== this.beside) this.begin();
    });
    this.tick();
  }

  rows() { return [...this.root.querySelectorAll('.ask')]; }

  row(id) { return this.rows().find((r) => r.dataset.approval === id); }

  get current() { return this.root.querySelector('.ask.current'); }

  // begin shows the first one that waits for the reader beside the list.
  begin() {
    const first = this.current ?? this.root.querySelector('[data-group=mine] .ask');
    if (first && wide.matches) this.select(first, false);
  }

  clicked(e) {
    const link = e.target.closest('.what a');
    if (!link || !wide.matches || e.ctrlKey || e.metaKey || e.shiftKey || e.button) return;
    e.preventDefault();
    this.select(link.closest('.ask'));
  }

  select(row, focus = true) {
    this.current?.classList.remove('current');
    this.current?.querySelector('.what a').removeAttribute('aria-current');
    row.classList.add('current');
    const link = row.querySelector('.what a');
    link.setAttribute('aria-current', 'true');
    if (focus) {
      link.focus({ preventScroll: true });
      row.scrollIntoView({ block: 'nearest' });
    }
    if (!wide.matches) return;
    this.beside = row.dataset.approval;
    this.selected(this.beside, link.href);
  }

  // step selects the row so many places on.
  step(by) {
    const rows = this.rows();
    const at = rows.indexOf(document.activeElement?.closest?.('.ask') ?? this.current);
    const next = rows[at < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, at + by))];
    if (next) this.select(next);
  }

  tick() {
    for (const form of this.root.querySelectorAll('.several')) {
      const n = form.querySelectorAll('[name=pick]:checked').length;
      form.querySelector('.ticked').textContent = n ? `${n} ticked` : '';
      form.querySelector('.together').classList.toggle('none', !n);
    }
  }

  // news takes what the stream tells of approvals. The first of a connection says nothing of what came before it.
  news({ waiting, changed = [], many }) {
    const shown = Number(this.root.querySelector('[data-group=mine] .count')?.textContent ?? 0);
    const filtered = ['q', 'by', 'tool', 'before'].some((name) => new URLSearchParams(location.search).has(name));
    const counted = this.root.querySelector('[data-group=mine]') && !filtered;
    const since = filtered && waiting !== this.waiting; // the count of a filtered list is not known
    this.waiting = waiting;
    changed.forEach((id) => this.changed(id));
    if (changed.length || many || since || (counted && waiting !== shown)) this.later();
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.load(), settle);
  }

  // load reads the page anew. What can't be read now is read with the next news.
  async load() {
    if (this.loading) {
      this.again = true;
      return;
    }
    this.loading = true;
    try {
      const url = new URL(location.href);
      url.searchParams.delete('decided');
      const response = await fetch(url, { headers: as, cache: 'no-store', redirect: 'manual' });
      if (response.ok) this.take(new DOMParser().parseFromString(await response.text(), 'text/html'));
    } catch { /* there is no connection: the stream tells when there is one */ } finally {
      this.loading = false;
    }
    if (!this.again) return;
    this.again = false;
    this.later();
  }

  // take makes the list that of a page. What one reads is kept in its place.
  take(page) {
    const anchor = this.anchor();
    const top = anchor?.getBoundingClientRect().top;
    const held = document.activeElement?.closest?.('.ask');
    const next = held && this.near(held, page);
    const before = new Map(this.rows().map((r) => [r.dataset.approval, r.cloneNode(true)]));
    this.rows().forEach((r) => { before.get(r.dataset.approval).dataset.group = r.closest('.group').dataset.group; });
    const lines = [];
    for (const group of page.querySelectorAll('.group')) this.group(group, before, lines);
    if (anchor?.isConnected) window.scrollBy(0, anchor.getBoundingClientRect().top - top);
    if (held && !this.row(held.dataset.approval)) this.row(next)?.querySelector('.what a').focus({ preventScroll: true });
    this.tick();
    if (lines.length) this.told.textContent = lines.length > 3 ? `${lines.length} requests changed.` : lines.join(' ');
  }

  // anchor is the row that one reads: the selected one, if it can be seen, or the first that can.
  anchor() {
    const seen = (r) => {
      const { top, bottom } = r.getBoundingClientRect();
      return bottom > 0 && top < innerHeight;
    };
    return this.current && seen(this.current) ? this.current : this.rows().find(seen);
  }

  // near is the approval beside a row that is on a page, too.
  near(row, page) {
    const there = new Set([...page.querySelectorAll('.ask')].map((r) => r.dataset.approval));
    const rows = this.rows();
    const at = rows.indexOf(row);
    return [...rows.slice(at), ...rows.slice(0, at).reverse()].find((r) => there.has(r.dataset.approval))?.dataset.approval;
  }

  // group makes a group that of a page. Rows that are as they were stay the same elements, so that focus and ticks stay.
  group(now, before, lines) {
    const old = this.root.querySelector(`[data-group=${now.dataset.group}]`);
    if (!old) return;
    const rows = [...now.querySelectorAll('.ask')].map((r) => document.importNode(r, true));
    for (const row of rows) this.mark(row, now.dataset.group, before.get(row.dataset.approval), lines);
    const list = old.querySelector('.rows');
    if (!list || !rows.length || !old.querySelector('.several') !== !now.querySelector('.several')) {
      const fresh = document.importNode(now, true);
      fresh.querySelector('.rows')?.replaceChildren(...rows);
      old.replaceWith(fresh);
      return;
    }
    old.querySelector('h2').replaceWith(document.importNode(now.querySelector('h2'), true));
    const stay = new Set(rows.map((r) => r.dataset.approval));
    [...list.children].filter((r) => !stay.has(r.dataset.approval)).forEach((r) => r.remove());
    let at = list.firstElementChild;
    for (const row of rows) {
      const same = at?.dataset.approval === row.dataset.approval;
      const next = same ? at.nextElementSibling : at;
      if (!same) list.insertBefore(row, at);
      else if (at.dataset.version !== row.dataset.version) at.replaceWith(row);
      at = next;
    }
    while (at) {
      const next = at.nextElementSibling;
      at.remove();
      at = next;
    }
    old.querySelector('.more')?.remove();
    const more = now.querySelector('.more');
    if (more) old.append(document.importNode(more, true));
  }

  // mark notes on a row what it was before, and adds to the lines that are read out what is new of it.
  mark(row, group, was, lines) {
    const what = row.querySelector('.what').textContent.trim();
    const about = row.querySelector('.about').textContent.trim();
    const from = was?.dataset.group;
    if (!was && group === 'mine') lines.push(`New: ${what}, ${about}.`);
    if (was && from !== group && group === 'decided') lines.push(`${what}: ${about}.`);
    if (from !== group) row.classList.add('fresh');
    if (was?.classList.contains('current')) {
      row.classList.add('current');
      row.querySelector('.what a').setAttribute('aria-current', 'true');
    }
  }

  // decided takes the page that follows a decision: it says what became of it, and the next one is selected, unless
  // another than the decided one has been selected meanwhile.
  decided(page) {
    const was = this.current;
    const stays = was && page.querySelector('[data-decided]') && !page.querySelector(`[data-decided="${was.dataset.approval}"]`);
    const next = was && this.rows()[this.rows().indexOf(was) + 1]?.dataset.approval;
    document.querySelector('.said')?.remove();
    const said = page.querySelector('.said');
    this.take(page);
    if (said) {
      document.querySelector('.desk').before(document.importNode(said, true));
      this.told.textContent = said.textContent.trim();
    }
    if (stays) return;
    const row = this.row(next);
    if (row?.closest('[data-group=mine]')) this.select(row);
    else this.begin();
  }
}

// What is selected in the list, beside it: the card of its page. Its forms and links work here as they do there.
import { at } from './base.js';
import { el } from './dom.js';
import { as } from './who.js';

const unknown = 'There is no connection. Whether this arrived is not known: look again once there is one.';

export class Detail {
  // restore puts what was typed into cards below a node; decided is called with the page that follows a decision.
  constructor(node, { restore, decided }) {
    Object.assign(this, { node, restore, decided, shown: '' });
    node.addEventListener('submit', (e) => this.submit(e));
    node.addEventListener('click', (e) => {
      const link = e.target.closest('a');
      if (!link || link.origin !== location.origin || e.ctrlKey || e.metaKey || e.shiftKey) return;
      if (link.pathname === at('/approvals')) { // not now
        e.preventDefault();
        this.show(this.shown, this.page);
      } else if (link.pathname.startsWith(at('/approvals/'))) {
        e.preventDefault();
        this.load(link.href, {}, true);
      }
    });
  }

  show(id, page) {
    Object.assign(this, { shown: id, page });
    return this.load(page);
  }

  // refresh shows an approval anew, if it is the one that is shown. A form that changes it stays: what is sent with it is
  // refused if the approval has changed. While a form is sent, its answer is what is shown next.
  refresh(id) {
    if (id === this.shown && !this.sending && !this.node.querySelector('.changing')) this.load(this.page);
  }

  async submit(e) {
    const form = e.target;
    if (form.method !== 'post') return;
    e.preventDefault();
    const data = new URLSearchParams(new FormData(form, e.submitter));
    this.node.querySelectorAll('button').forEach((b) => { b.disabled = true; });
    this.sending = true;
    await this.load(form.action, { method: 'POST', body: data }, true);
    this.sending = false;
  }

  // load shows what an address answers. An answer that another one has overtaken is not shown; a decision's always is.
  async load(url, options = {}, focus = false) {
    const turn = this.turn = (this.turn ?? 0) + 1;
    let page;
    let to;
    try {
      const response = await fetch(url, { ...options, headers: as, cache: 'no-store' });
      page = new DOMParser().parseFromString(await response.text(), 'text/html');
      to = new URL(response.url);
    } catch {
      this.fault(options.method ? unknown : 'There is no connection.');
      return;
    }
    if (page.body.matches('.approvals') && to.pathname === at('/approvals')) this.decided(page);
    else if (turn === this.turn) this.take(page, focus);
  }

  fault(text) {
    this.node.hidden = false;
    this.node.querySelectorAll('button').forEach((b) => { b.disabled = false; });
    this.node.querySelector('.fault.here')?.remove();
    this.node.prepend(el('p', { class: 'fault here', role: 'alert' }, text));
  }

  // take shows the card of a page or, of a page without one, what it says.
  take(page, focus) {
    const field = this.node.contains(document.activeElement) && document.activeElement.name;
    const card = page.querySelector('main .card');
    const parts = card ? [card] : [...page.querySelector('main')?.children ?? []];
    this.node.replaceChildren(...parts.map((p) => document.importNode(p, true)));
    this.node.hidden = false;
    this.node.scrollTop = 0;
    const head = this.node.querySelector('h1');
    if (head) {
      const lower = el('h2', { id: head.id, class: head.className, dir: 'auto', tabindex: -1 });
      lower.append(...head.childNodes);
      head.replaceWith(lower);
    }
    this.restore(this.node);
    const to = field ? [...this.node.querySelectorAll('input, textarea, select')].find((f) => f.name === field) : null;
    if (to) to.focus({ preventScroll: true });
    else if (focus) (this.node.querySelector('[name=confirmed], .changing :is(input, select, textarea):not([type=hidden])')
      ?? this.node.querySelector('h2'))?.focus({ preventScroll: true });
  }
}

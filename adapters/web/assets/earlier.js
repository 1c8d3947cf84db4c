// What was said before what a page gets at first. It is got when the reader comes near the beginning, or presses the
// button there, until there is no more.
import { at } from './base.js';
import { el } from './dom.js';
import { read } from './feed.js';
import { as } from './who.js';

const near = 150; // pixels from the beginning
const patience = 20000; // milliseconds

export class Earlier {
  constructor(session, log) {
    Object.assign(this, { session, log, busy: false, none: false });
    this.button = el('button', { type: 'button', class: 'quiet earlier', hidden: true, onclick: () => this.load() }, 'Earlier messages');
    log.begin(this.button);
    log.node.addEventListener('scroll', () => this.look(), { passive: true });
  }

  // look shows whether there is more, and gets it where the reader is near.
  look() {
    const more = this.log.ready && !this.none && this.log.oldest > 1 && this.log.oldest < Infinity;
    this.button.hidden = !more;
    if (more && !this.failed && this.log.node.scrollTop < near) this.load();
  }

  // anew: what was there is of another database.
  anew() {
    this.none = false;
    this.look();
  }

  async load() {
    if (this.busy) return;
    this.busy = true;
    this.failed = false;
    this.button.disabled = true;
    this.button.textContent = 'Loading…';
    const { oldest } = this.log;
    const found = [];
    try {
      const query = new URLSearchParams({ session: this.session, html: '1', before: String(oldest) });
      await read(at(`/v1/openharness/events?${query}`), {
        headers: as, signal: AbortSignal.timeout(patience), take: (e) => found.push(e.data),
      });
      if (this.log.oldest === oldest || found.length) this.log.before(found);
      this.none = !found.length;
    } catch {
      this.failed = true; // it is not tried again by itself
    }
    this.busy = false;
    this.button.disabled = false;
    this.button.textContent = this.failed ? 'Earlier messages could not be loaded. Try again' : 'Earlier messages';
    this.look();
  }
}

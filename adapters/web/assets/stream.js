// What comes of a session, over the connection that all tabs of the browser share.
import { place } from './base.js';
import { heard as beat } from './clock.js';
import { reach } from './tabs.js';
import { times } from './times.js';
import { away } from './who.js';

const asleep = 60000; // after a longer time in the background, a connection may be dead without anybody having noticed

// here: gatehouse is on this machine, so that a network is not needed.
const here = /^(localhost|127\..*|\[::1\])$/.test(location.hostname);

export class Stream {
  // session: null on a page without one. What waits for the reader is told to the document, as the event "approvals".
  // heard gets each envelope, { turn } when a turn begins or ends, and { delta } while it runs; changed gets "connecting", "connected",
  // "polling", "reconnecting", "offline", "login" or "refused", and why; anew is called when all that was heard is
  // void.
  constructor({ session, who, login }, { heard = () => {}, changed = () => {}, anew = () => {} }) {
    Object.assign(this, { session, who, heard, changed, anew, wakers: [] });
    this.say = reach(`${place} ${who} ${login ?? ''}`, (m) => this.hear(m), () => this.join());
    document.addEventListener('away', () => this.say({ bye: true }));
    addEventListener('online', () => this.say({ wake: true }));
    addEventListener('offline', () => here || this.tell('offline'));
    addEventListener('pageshow', (e) => e.persisted && this.join());
    addEventListener('pagehide', () => this.say({ bye: true }));
    document.addEventListener('visibilitychange', () => {
      if (document.hidden) this.hiddenAt = Date.now();
      else if (this.hiddenAt && Date.now() - this.hiddenAt > asleep) this.say({ wake: true });
    });
  }

  join() { if (!away()) this.say({ join: { session: this.session, as: this.who, times } }); }

  // now tries to connect at once.
  now() { this.say({ wake: true }); }

  hear(message) {
    if (message.state) this.tell(message.state, message);
    if (message.anew) this.anew();
    if (message.beat) beat(message.beat.at);
    if (message.approvals) document.dispatchEvent(new CustomEvent('approvals', { detail: message.approvals }));
    if (message.conversations) document.dispatchEvent(new CustomEvent('conversations', { detail: message.conversations }));
    if (message.envelope) this.heard(message.envelope);
    if (message.turn) this.heard({ turn: message.turn });
    if (message.delta) this.heard({ delta: message.delta });
  }

  tell(state, why = {}) {
    if (state === 'reconnecting' && !navigator.onLine && !here) state = 'offline';
    if (state === 'connected' || state === 'polling') this.wakers.splice(0).forEach((wake) => wake());
    if (this.state === state) return;
    this.state = state;
    this.changed(state, why);
  }

  // woken is fulfilled at the next connection.
  woken() { return new Promise((wake) => this.wakers.push(wake)); }
}

// What a person has written in a conversation and gatehouse has not told of yet. It is kept in the browser under the
// person's name, one value each, so that it is the same for all tabs, and is there after a reload, a log-in or the end
// of the browser.
//
// An entry is { n, body, quiet, stored, status, fault }: quiet is what a button sends; stored once gatehouse has it, with
// the continuation that asks what became of it; fault is { todo, text, at }, why it was not taken.
import { place } from './base.js';

const begin = (who) => `${place} unsent ${who} `;

export class Outbox {
  // changed is called after each change, whichever tab made it.
  constructor(who, session, changed) {
    Object.assign(this, { prefix: `${begin(who)}${encodeURIComponent(session)} `, changed, here: new Map() });
    addEventListener('storage', (e) => (e.key === null || e.key.startsWith(this.prefix)) && changed());
  }

  // sessions are those in which something of a person is kept.
  static sessions(who) {
    try {
      const own = Object.keys(localStorage).filter((key) => key.startsWith(begin(who)));
      return own.map((key) => decodeURIComponent(key.slice(begin(who).length).split(' ')[0]));
    } catch {
      return []; // storage is switched off
    }
  }

  // all are the entries, oldest first.
  get all() {
    const entries = [...this.here.values()];
    try {
      for (const key of Object.keys(localStorage)) {
        if (key.startsWith(this.prefix)) entries.push(JSON.parse(localStorage.getItem(key)));
      }
    } catch { /* storage is switched off: what is here is all */ }
    return entries.sort((a, b) => a.n - b.n || (a.body.request_id < b.body.request_id ? -1 : 1));
  }

  // unsent are those that gatehouse does not have, as far as is known.
  get unsent() { return this.all.filter((e) => !e.stored); }

  // next is the one to send now. What was refused for itself does not keep the others waiting.
  next() { return this.unsent.find((e) => e.fault?.todo !== 'shorten'); }

  // add keeps a message, or what a button sends: after the same button it is one press. Its place is the time, since
  // what another tab has just kept may not be seen here yet; but always after what is seen.
  add(body, quiet) {
    const { all } = this;
    const last = all.filter((e) => !e.stored).at(-1);
    const text = body.request.context.user_intent;
    if (quiet && last?.quiet && last.body.request.context.user_intent === text) return;
    this.write({ n: Math.max((all.at(-1)?.n ?? 0) + 1, Date.now()), body, quiet });
  }

  // change sets fields of an entry that is still there.
  change(id, fields) {
    const entry = this.all.find((e) => e.body.request_id === id);
    if (entry) this.write({ ...entry, ...fields });
  }

  // isStored: gatehouse has it. What a button sends is never told of, so it goes.
  isStored(entry, status) {
    const id = entry.body.request_id;
    if (status && !entry.quiet) this.change(id, { stored: true, status, fault: undefined });
    else this.remove(id);
  }

  write(entry) {
    const key = this.prefix + entry.body.request_id;
    try {
      localStorage.setItem(key, JSON.stringify(entry));
      this.here.delete(key);
    } catch {
      this.here.set(key, entry); // switched off, or full
    }
    this.changed();
  }

  remove(id) {
    const key = this.prefix + id;
    const known = this.here.delete(key);
    try {
      if (localStorage.getItem(key) === null && !known) return;
      localStorage.removeItem(key);
    } catch { /* switched off */ }
    this.changed();
  }

  // discard forgets what is unsent.
  discard() { this.unsent.forEach((e) => this.remove(e.body.request_id)); }
}

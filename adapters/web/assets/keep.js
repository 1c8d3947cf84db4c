// What is being written is kept for each person and session, so that nobody else who logs in sends or sees it: in the
// tab, since two tabs may write two texts, and in the browser, for the next tab. The end of a login erases nothing.
import { place } from './base.js';

const prefix = (who) => `${place} draft ${who} `;

export class Keep {
  constructor(who, session) { this.key = prefix(who) + encodeURIComponent(session); }

  get draft() { return read('sessionStorage', this.key) ?? read('localStorage', this.key) ?? ''; }

  set draft(text) {
    const last = this.draft;
    write('sessionStorage', this.key, text); // "" too: what another tab writes is not this one's
    if (text) write('localStorage', this.key, text);
    else if (read('localStorage', this.key) === last) write('localStorage', this.key, null);
  }

  // sessions are those in which a person has begun to write.
  static sessions(who) {
    const begin = prefix(who);
    const keys = ['sessionStorage', 'localStorage'].flatMap((where) => {
      try {
        return Object.keys(globalThis[where]);
      } catch {
        return [];
      }
    });
    return keys.filter((key) => key.startsWith(begin)).map((key) => decodeURIComponent(key.slice(begin.length)));
  }
}

// read returns what a storage has under a key; null for nothing.
export function read(where, key) {
  try {
    return globalThis[where].getItem(key);
  } catch {
    return null; // storage is switched off: nothing is kept
  }
}

// write stores a text; null removes it.
export function write(where, key, value) {
  try {
    if (value === null) globalThis[where].removeItem(key);
    else globalThis[where].setItem(key, value);
  } catch { /* switched off, or full */ }
}

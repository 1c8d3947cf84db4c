// What the tab keeps over a reload: the text that is being written, and messages that were sent but not answered. It is kept for each person
// and session, so that nobody who logs in later in this tab sends or sees it.

export class Keep {
  constructor(who, session) {
    this.draftKey = `gatehouse draft ${who} ${session}`;
    this.unsentKey = `gatehouse unsent ${who} ${session}`;
  }

  get draft() { return read(this.draftKey) ?? ''; }
  set draft(text) { write(this.draftKey, text); }

  // unsent are request bodies, oldest first.
  get unsent() {
    try {
      const all = JSON.parse(read(this.unsentKey) ?? '[]');
      return Array.isArray(all) ? all.filter((b) => b?.request_id && b?.request?.context) : [];
    } catch {
      return [];
    }
  }

  add(body) { this.write([...this.unsent, body]); }
  remove(body) { this.write(this.unsent.filter((b) => b.request_id !== body.request_id)); }
  write(all) { write(this.unsentKey, all.length ? JSON.stringify(all) : ''); }

  // forget removes everything of everybody: at a log-out.
  static forget() {
    try {
      for (const key of Object.keys(sessionStorage)) if (key.startsWith('gatehouse ')) sessionStorage.removeItem(key);
    } catch { /* there is no storage */ }
  }
}

function read(key) {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null; // storage is switched off: nothing is kept
  }
}

function write(key, value) {
  try {
    if (value) sessionStorage.setItem(key, value);
    else sessionStorage.removeItem(key);
  } catch { /* switched off, or full */ }
}

// What the tab keeps over a reload: the text that is being written. It is kept for each person and session, so that nobody who logs in later
// in this tab sends or sees it.

export class Keep {
  constructor(who, session) {
    this.draftKey = `gatehouse draft ${who} ${session}`;
  }

  get draft() { return read(this.draftKey) ?? ''; }
  set draft(text) { write(this.draftKey, text); }

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

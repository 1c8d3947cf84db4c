// The events of a session. A browser repairs a broken stream by itself, but gives up on one that is refused; then this opens another, after
// the last event that was seen.
import { backoff, eventsURL, toLogin } from './wire.js';

const asleep = 60000; // after a longer time in the background, a connection may be dead without anybody having noticed

// here: gatehouse is on this machine, so that a network is not needed.
const here = /^(localhost|127\..*|\[::1\])$/.test(location.hostname);

export class Stream {
  // heard gets each envelope; changed gets "connecting", "connected", "reconnecting" or "offline".
  constructor(session, heard, changed) {
    Object.assign(this, { session, heard, changed, last: '', tries: 0, wakers: [] });
    addEventListener('online', () => this.open());
    addEventListener('offline', () => here || this.tell('offline'));
    addEventListener('pageshow', (e) => e.persisted && this.open());
    addEventListener('pagehide', () => this.source?.close());
    document.addEventListener('visibilitychange', () => {
      if (document.hidden) this.hiddenAt = Date.now();
      else if (this.hiddenAt && Date.now() - this.hiddenAt > asleep) this.open();
    });
    this.open();
  }

  open() {
    clearTimeout(this.timer);
    this.source?.close();
    const source = new EventSource(eventsURL(this.session, this.last));
    this.source = source;
    this.tell(this.state === undefined ? 'connecting' : 'reconnecting');
    source.onopen = () => {
      this.tries = 0;
      this.tell('connected');
      this.wakers.splice(0).forEach((wake) => wake());
    };
    source.onmessage = (e) => {
      if (this.source !== source) return;
      if (e.lastEventId) this.last = e.lastEventId;
      let envelope;
      try {
        envelope = JSON.parse(e.data);
      } catch {
        return;
      }
      this.heard(envelope);
    };
    source.onerror = () => {
      if (this.source !== source) return;
      this.tell('reconnecting');
      if (source.readyState === EventSource.CLOSED) this.later();
    };
  }

  // later opens another stream after a while. Why the last one was refused can't be seen, so it is asked for once in another way.
  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(async () => {
      const source = this.source;
      if (await refused(eventsURL(this.session, this.last))) toLogin();
      else if (this.source === source) this.open(); // else one was opened meanwhile
    }, backoff(this.tries++));
  }

  tell(state) {
    if (state === 'reconnecting' && !navigator.onLine && !here) state = 'offline';
    if (this.state === state) return;
    this.state = state;
    this.changed(state);
  }

  // woken is fulfilled at the next connection.
  woken() { return new Promise((wake) => this.wakers.push(wake)); }
}

// refused reports whether the reader has to log in.
async function refused(url) {
  const stop = new AbortController();
  try {
    const response = await fetch(url, { credentials: 'same-origin', cache: 'no-store', redirect: 'manual', signal: stop.signal });
    return response.status === 401;
  } catch {
    return false;
  } finally {
    stop.abort();
  }
}

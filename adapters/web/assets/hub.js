// The hub holds the one connection of all tabs of a browser in which one person is logged in, and passes on what comes.
// It runs in a shared worker or, where there is none, in one of the tabs: see tabs.js. It knows no page.
//
// A tab says { join: { session, as, times } }, { wake } and { bye }. It is told { state, text, own }, { anew } (what it
// has is of another database), { beat }, { approvals } (how many wait for the person, and which have changed), and
// { envelope }, { turn } or { delta } of its session. A tab without a session joins with null.
import { eventsURL, read } from './feed.js';
import { backoff } from './times.js';
import { Verdict } from './verdict.js';

export class Hub {
  constructor() {
    Object.assign(this, { tabs: new Map(), places: new Map(), epoch: '', tries: 0, runs: false });
    this.told = { state: 'connecting' };
  }

  // take takes what a tab says; tell is how it is answered, and who it is.
  take(tell, { join, wake, bye }) {
    if (join) this.join(tell, join);
    if (wake) this.wake();
    if (bye) this.leave(tell);
  }

  join(tell, { session, as, times }) {
    Object.assign(this, { as, times });
    this.held ??= times.retry; // how long it polls before it tries a stream again
    const fresh = session !== null && !this.places.has(session);
    this.tabs.set(tell, { session, behind: !fresh && session !== null });
    if (fresh) this.places.set(session, -1);
    tell(this.told);
    if (this.waiting) tell({ approvals: this.waiting });
    this.alive ??= setInterval(() => this.tell({ alive: true }), times.beat);
    if (!this.runs) this.run();
    else if (fresh) this.again?.('joined');
    else if (this.live() && session !== null) this.catchUp(tell);
  }

  leave(tell) {
    const session = this.tabs.get(tell)?.session;
    this.tabs.delete(tell);
    if (![...this.tabs.values()].some((t) => t.session === session)) this.places.delete(session);
    if (this.tabs.size) return;
    clearInterval(this.alive);
    this.alive = undefined;
    this.again?.('left');
  }

  live() { return this.told.state === 'connected' || this.told.state === 'polling'; }

  // wake tries at once: the machine was asleep, or the network is back.
  wake() {
    if (!this.live() || Date.now() - this.heardAt > 2 * this.times.beat) this.again?.('woken');
  }

  tell(message, session) {
    for (const [tell, tab] of this.tabs) if (session === undefined || tab.session === session) tell(message);
  }

  change(state, more = {}) {
    this.told = { state, ...more };
    this.tell(this.told);
    if (this.live()) for (const [tell, tab] of this.tabs) if (tab.behind) this.catchUp(tell);
  }

  // run follows the sessions until no tab is left.
  async run() {
    this.runs = true;
    while (this.tabs.size) {
      const why = await this.stream();
      if (why === 'joined' || why === 'left') continue;
      if (why === 'nothing came' && (await this.poll())) continue;
      if (!this.tabs.size) break;
      if (why instanceof Verdict) {
        const { todo, message: text, own, now } = why;
        this.change(todo === 'login' ? 'login' : 'refused', { text, own, now });
      } else {
        this.change('reconnecting');
      }
      if (why !== 'woken') await this.pause(backoff(this.tries++, this.times));
    }
    this.runs = false;
    this.told = { state: 'connecting' };
  }

  pause(ms) {
    return new Promise((done) => {
      const timer = setTimeout(done, ms);
      this.again = () => {
        clearTimeout(timer);
        done();
      };
    });
  }

  // stream reads a stream to its end, and returns why it ended.
  async stream() {
    let came = false;
    const why = await this.request({}, this.times.first, () => {
      if (!came) this.change('connected');
      came = true;
      this.tries = 0;
      this.held = this.times.retry;
      return this.times.silence;
    });
    return why === 'silent' && !came ? 'nothing came' : why;
  }

  // poll asks for the news again and again, where something on the way holds streams back; false if that fails, too.
  async poll() {
    const { first, poll, retry } = this.times;
    const end = performance.now() + this.held;
    this.held = Math.min(2 * this.held, 10 * retry);
    for (let n = 0; this.tabs.size && performance.now() < end; n++) {
      const why = await this.request({ wait: n ? poll : 0 }, first + (n ? poll : 0));
      if (why === 'ended' && this.told.state !== 'polling') this.change('polling');
      if (why !== 'ended' && why !== 'joined') return n > 0;
    }
    return true;
  }

  // request reads one answer, and returns "ended", "silent", what again was called with, a Verdict or an Error. came
  // returns how long the answer may be silent from then on; without it, the whole answer has that time.
  async request(options, ms, came = () => 0) {
    const stop = new AbortController();
    const [first] = this.places.keys(); // of which the events are where there is one session
    let why = 'ended';
    const end = (reason) => {
      why = reason;
      stop.abort();
    };
    let timer = setTimeout(end, ms, 'silent');
    this.again = end;
    try {
      await read(eventsURL(this.places, { epoch: this.epoch, beat: this.times.beat, approvals: 1, conversations: 1, ...options }), {
        headers: this.headers(), signal: stop.signal, take: (e) => {
          if (stop.signal.aborted) return;
          this.heard(e, first);
          const left = came();
          if (!left) return;
          clearTimeout(timer);
          timer = setTimeout(end, left, 'silent');
        },
      });
    } catch (e) {
      if (why === 'ended') why = e;
    } finally {
      clearTimeout(timer);
    }
    return why;
  }

  headers() { return { 'Gatehouse-As': this.as }; }

  heard({ event, id, session, data }, first) {
    this.heardAt = Date.now();
    const of = session ?? first;
    if (event === 'beat') {
      if (data.anew) {
        for (const name of this.places.keys()) this.places.set(name, -1);
        this.tell({ anew: true });
      }
      this.epoch = data.epoch;
      this.tell({ beat: data });
    } else if (event === 'approvals') {
      this.waiting = { waiting: data.waiting };
      this.tell({ approvals: data });
    } else if (event === 'conversations') {
      this.tell({ conversations: data });
    } else if (event === 'turn') {
      this.tell({ turn: data }, of);
    } else if (event === 'delta') {
      this.tell({ delta: data }, of);
    } else if (this.places.has(of)) { // else its last tab has left
      this.places.set(of, Math.max(id, this.places.get(of)));
      this.tell({ envelope: data }, of);
    }
  }

  // catchUp gives a tab that comes later what the others have.
  async catchUp(tell) {
    const tab = this.tabs.get(tell);
    tab.behind = false;
    const signal = AbortSignal.timeout(this.times.first + this.times.poll);
    const take = ({ event, data }) => {
      if (event === 'message') tell({ envelope: data });
      if (event === 'turn') tell({ turn: data });
      if (event === 'delta') tell({ delta: data });
      if (event === 'beat') tell({ beat: data });
    };
    const url = eventsURL(new Map([[tab.session, -1]]), { beat: this.times.beat, wait: 0 });
    await read(url, { headers: this.headers(), signal, take }).catch(() => { tab.behind = true; });
  }
}

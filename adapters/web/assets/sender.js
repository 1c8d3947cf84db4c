// The one sender of a conversation, in whichever tab holds its lock: what was written leaves one after another, each
// after the one before is stored, so that it is stored in the order in which it was written.
import { backoff, sleep, times } from './times.js';
import { Verdict } from './verdict.js';
import { Unreachable, about, post } from './wire.js';

export class Sender {
  // name is the lock's; stored gets each entry that this tab has sent, and its answer.
  constructor(outbox, { name, woken, stored }) {
    Object.assign(this, { outbox, name, woken, stored, asked: false });
    addEventListener('pagehide', () => this.leave?.()); // or a page that is kept for its return would keep the lock
    addEventListener('pageshow', (e) => e.persisted && this.send());
  }

  // send sends what there is, unless that is being done.
  send() {
    if (this.asked || !this.outbox.next()) return;
    this.asked = true;
    const use = { left: false, at: Date.now() };
    const left = new Promise((leave) => {
      this.leave = () => {
        use.left = true;
        this.asked = false;
        leave();
      };
    });
    const run = () => !use.left && Promise.race([this.drain(use), left]);
    if (navigator.locks) navigator.locks.request(this.name, run);
    else run();
  }

  async drain(use) {
    let begun = performance.now();
    let n = 0;
    while (!use.left) {
      const entry = this.outbox.next();
      if (!entry || entry.fault?.at > use.at) break; // another tab has tried it meanwhile
      try {
        const answer = await post(entry.body, 0);
        if (!answer.again) {
          this.answered(entry, answer);
          n = 0;
          begun = performance.now();
          continue;
        }
        await sleep(Math.max(answer.pause || 0, backoff(n++)));
      } catch (e) {
        if (e instanceof Verdict) {
          this.fault(entry, e.todo, e.message);
          if (e.todo === 'shorten') continue;
          break;
        }
        if (!(e instanceof Unreachable)) {
          this.asked = false;
          throw e;
        }
        if (performance.now() - begun > times.patience) {
          this.fault(entry, 'retry', 'Gatehouse could not be reached for two minutes.');
          break;
        }
        const woken = await Promise.race([sleep(backoff(n++)), this.woken().then(() => true)]);
        if (woken) n = 0;
      }
    }
    if (!use.left) this.asked = false;
  }

  answered(entry, answer) {
    if (answer.refused) {
      this.fault(entry, 'shorten', answer.response.error?.message ?? 'The request was refused.');
      return;
    }
    const status = (answer.response.action_directives ?? []).map(about).find((a) => a.kind === 'working')?.status;
    this.outbox.isStored(entry, status);
    this.stored(entry, answer);
  }

  fault(entry, todo, text) { this.outbox.change(entry.body.request_id, { fault: { todo, text, at: Date.now() } }); }
}

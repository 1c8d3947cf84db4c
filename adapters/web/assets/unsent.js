// How what is not sent yet looks: as a message of its own kind, with why, and with what a person can do about it.
import { el } from './dom.js';
import { textOf } from './wire.js';

const patience = 700; // milliseconds after which a message that is being sent looks unsent

export class Unsent {
  // log shows the messages; acts are what the buttons do: again(), login(), back(text).
  constructor(outbox, log, acts) {
    Object.assign(this, { outbox, log, acts, shown: new Map() });
  }

  // draw shows the entries as they are now.
  draw() {
    const all = this.outbox.all.filter((e) => !e.quiet);
    for (const [id, bubble] of this.shown) {
      if (all.some((e) => e.body.request_id === id)) continue;
      this.shown.delete(id);
      bubble.gone();
    }
    for (const entry of all) this.one(entry);
  }

  // settle leaves a message as it is shown, and forgets it.
  settle(id) {
    this.shown.delete(id);
    this.outbox.remove(id);
  }

  one({ body, stored, fault }) {
    const id = body.request_id;
    const text = textOf(body);
    if (!this.shown.has(id)) this.shown.set(id, this.log.say(id, text));
    const bubble = this.shown.get(id);
    clearTimeout(bubble.timer);
    if (stored) bubble.arrived();
    else if (fault) bubble.failed(`Not sent: ${fault.text}`, ...this.buttons(fault, id, text));
    else if (bubble.late) bubble.unsent('Not sent yet.');
    else bubble.timer = setTimeout(() => {
      bubble.late = true;
      this.draw();
    }, patience);
  }

  buttons({ todo }, id, text) {
    const button = (label, onclick) => el('button', { type: 'button', class: 'quiet', onclick }, label);
    const back = button('Write it again', () => {
      this.outbox.remove(id);
      this.acts.back(text);
    });
    if (todo === 'login') return [button('Log in again', () => this.acts.login())];
    return todo === 'retry' ? [button('Try again', () => this.acts.again()), back] : [back];
  }
}

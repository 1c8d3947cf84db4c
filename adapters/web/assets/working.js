// What the page says while a turn of its conversation runs, in whichever tab it was asked for: what it does, for how
// long, and the button that stops it.
import { now } from './clock.js';

export class Working {
  constructor(node, stop) { Object.assign(this, { node, stop, ran: {}, does: {} }); }

  // turn takes what the stream tells: since when a turn runs, nothing while none does.
  turn(ran) {
    this.ran = ran;
    if (!ran.since) this.does = {};
    this.draw();
  }

  // delta takes what the turn does now, where this is known.
  delta(does) {
    this.does = does.ended ? {} : does;
    this.draw();
  }

  draw() {
    const { since } = this.ran;
    clearInterval(this.ticks);
    if (since) this.ticks = setInterval(() => this.tell(), 1000);
    this.tell();
    this.node.hidden = !since;
    this.stop.hidden = !since;
  }

  tell() {
    const [word, beside] = this.node.children; // the first is read out when it changes
    const [what, time] = this.ran.since ? this.words() : ['', ''];
    if (word.textContent !== what) word.textContent = what;
    beside.textContent = time;
  }

  words() {
    const { running, retry_at: asks } = this.does;
    const again = Date.parse(asks ?? this.ran.retry_at ?? '') - now();
    if (again > 0) return ['Trying again', `in ${lasts(again + 999)}`];
    if (running) return [`Running ${running.tool}…`, lasts(now() - Date.parse(running.since))];
    return ['Working…', lasts(now() - Date.parse(this.ran.since))];
  }
}

// lasts are the words for a time in milliseconds.
function lasts(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
}

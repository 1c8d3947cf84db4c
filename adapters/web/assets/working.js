// "Working": what the page says while a turn of its conversation runs, in whichever tab it was asked for, and the
// button that stops it.
import { time } from './dom.js';

export class Working {
  constructor(node, stop) { Object.assign(this, { node, stop }); }

  // turn takes what the stream tells: since when a turn runs, nothing while none does.
  turn({ since }) {
    const [word, beside] = this.node.children; // the first is read out when it changes
    word.textContent = since ? 'Working…' : '';
    beside.replaceChildren(...(since ? ['since ', time(since)] : []));
    this.node.hidden = !since;
    this.stop.hidden = !since;
  }
}

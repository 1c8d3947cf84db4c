// "Working": what the page says while a turn of its conversation runs, in whichever tab it was asked for, and the
// button that stops it.

const clock = new Intl.DateTimeFormat([], { timeStyle: 'short' });

export class Working {
  constructor(node, stop) { Object.assign(this, { node, stop }); }

  // turn takes what the stream tells: since when a turn runs, nothing while none does.
  turn({ since }) {
    const [word, beside] = this.node.children; // the first is read out when it changes
    word.textContent = since ? 'Working…' : '';
    beside.textContent = since ? `since ${clock.format(Date.parse(since))}` : '';
    this.node.hidden = !since;
    this.stop.hidden = !since;
  }
}

// The reply that is being written, as far as it is. It is a view: the stored reply takes its place, once, and where a
// turn ends without one it goes.
import { el } from './dom.js';
import { agent, by } from './log.js';

const grace = 3000; // milliseconds that the stored reply may take after its turn has ended
const ends = new Set(['reply', 'error', 'card', 'notice']); // of what a turn ends with
const most = 50; // turns whose end is known

export class Live {
  constructor(log) {
    Object.assign(this, { log, over: [] });
    log.live = this;
  }

  // delta takes what a turn shows now. One that comes late, after the reply, shows nothing.
  delta({ turn, html, ended }) {
    if (ended || this.over.includes(turn)) return;
    if (turn !== this.turn) this.drop();
    this.turn = turn;
    clearTimeout(this.leaving);
    if (html) this.log.grow(this.bubble(), () => redraw(this.node.lastElementChild, html));
    else this.node?.remove();
    if (!html) this.node = null;
  }

  // running takes whether a turn runs.
  running(since) {
    clearTimeout(this.leaving);
    if (!since) this.leaving = setTimeout(() => this.drop(), grace);
  }

  bubble() {
    this.node ??= el('article', { class: 'item live', 'aria-live': 'off', 'aria-busy': true },
      by(agent, {}), el('div', { class: 'markup' }));
    return this.node;
  }

  // settle returns the bubble in whose place an item comes, if there is one.
  settle({ turn, kind }) {
    if (!turn || !ends.has(kind)) return null;
    if (!this.over.includes(turn)) this.over = [...this.over.slice(1 - most), turn];
    if (turn !== this.turn) return null;
    const { node } = this;
    Object.assign(this, { node: null, turn: null });
    return node;
  }

  drop() {
    this.node?.remove();
    Object.assign(this, { node: null, turn: null });
  }
}

// redraw changes what is shown from the first element on that is another one, so that what was marked stays marked.
function redraw(node, html) {
  const drawn = document.createElement('template');
  drawn.innerHTML = html;
  const old = [...node.children];
  const next = [...drawn.content.children];
  let same = 0;
  while (same < old.length && same < next.length && old[same].isEqualNode(next[same])) same += 1;
  old.slice(same).forEach((child) => child.remove());
  node.append(...next.slice(same));
}

// Single letters as keys of the pages of approvals. They do nothing while one types, with another key held, or once they
// are switched off.
import { switches } from './switches.js';

const typing = 'input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]';

export class Keys {
  // list: null on the page of one approval.
  constructor(root, list) {
    this.list = list;
    this.help = root.getElementById('keys');
    root.getElementById('help')?.addEventListener('click', () => this.help.showModal());
    const letters = root.getElementById('letters');
    letters.checked = switches.keys;
    letters.addEventListener('change', () => { switches.keys = letters.checked; });
    root.addEventListener('keydown', (e) => this.press(e));
  }

  press(e) {
    if (e.defaultPrevented || e.repeat && !'jk'.includes(e.key) || e.ctrlKey || e.metaKey || e.altKey || e.isComposing) return;
    if (!switches.keys || e.target.matches(typing) || document.querySelector('dialog[open]')) return;
    const act = {
      j: () => this.list?.step(1),
      k: () => this.list?.step(-1),
      a: () => this.click('button[value=approve]', 'a.button[href*="review="]'),
      d: () => this.open('.denial > summary.danger'),
      e: () => this.click('a.button[href*="edit="]'),
      x: () => this.list?.current?.querySelector('[name=pick]')?.click(),
      '?': () => this.help.showModal(),
    }[e.key];
    if (!act) return;
    e.preventDefault();
    act();
  }

  // card is that which the keys are about: beside the list, it is that of the selected row.
  card() { return document.querySelector(this.list ? '.detail:not([hidden]) .card' : 'main .card'); }

  click(...selectors) {
    const at = this.card();
    selectors.map((s) => at?.querySelector(s)).find(Boolean)?.click();
  }

  open(selector) {
    const summary = this.card()?.querySelector(selector);
    if (!summary) return;
    summary.parentElement.open = true;
    summary.parentElement.querySelector('textarea, input:not([type=hidden])')?.focus();
  }
}

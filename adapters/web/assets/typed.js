// What is typed into the forms of cards: kept for each approval until it is sent, however often its card is drawn anew.
// What its card has no field for any more, such as the reason of a denial after another's decision, is shown as text.
import { place } from './base.js';
import { el } from './dom.js';
import { read, write } from './keep.js';

// The form that changes arguments is left out: it begins with them as they are.
const fields = ':is(textarea, select, input:not([type=hidden], [type=checkbox]))[name]:not(.changing *)';
const longest = 30 * 24 * 3600000; // milliseconds that something is kept

export class Typed {
  // watch keeps what is typed below root.
  constructor(who, root) {
    Object.assign(this, { root, prefix: `${place} typed ${who} `, here: new Map() });
    const of = (e) => e.target.closest('.card[data-approval]');
    root.addEventListener('input', (e) => e.target.matches(fields) && of(e) && this.take(of(e), e.target));
    // before the fields are disabled
    root.addEventListener('submit', (e) => of(e) && this.sends(of(e), e.target), true);
    this.clean();
  }

  // all is what is kept of an approval: { fields, sent, at }.
  all(approval) {
    const none = { fields: {}, sent: {} };
    try {
      return { ...none, ...(this.here.get(approval) ?? JSON.parse(read('localStorage', this.prefix + approval))) };
    } catch {
      return none;
    }
  }

  keep(approval, kept) {
    this.here.set(approval, kept); // storage may be switched off
    const some = Object.keys(kept.fields).length > 0;
    write('localStorage', this.prefix + approval, some ? JSON.stringify({ ...kept, at: Date.now() }) : null);
  }

  take(card, { name, value }) {
    const kept = this.all(card.dataset.approval);
    if (value) kept.fields[name] = value;
    else delete kept.fields[name];
    this.keep(card.dataset.approval, kept);
  }

  // sends remembers what leaves with a form, which is forgotten once it has arrived.
  sends(card, form) {
    const kept = this.all(card.dataset.approval);
    kept.sent = Object.fromEntries([...new FormData(form)].filter(([name, value]) => kept.fields[name] === value));
    this.keep(card.dataset.approval, kept);
  }

  // arrived forgets what was sent, also where its card was drawn anew meanwhile.
  arrived(approval) {
    const kept = this.all(approval);
    for (const [name, value] of Object.entries(kept.sent)) if (kept.fields[name] === value) delete kept.fields[name];
    this.keep(approval, { ...kept, sent: {} });
    for (const card of this.root.querySelectorAll('.card')) if (card.dataset.approval === approval) this.restore(card);
  }

  // restore puts what is kept into a card.
  restore(card) {
    const kept = this.all(card.dataset.approval);
    card.querySelector('.kept')?.remove();
    for (const [name, value] of Object.entries(kept.fields)) {
      const places = [...card.querySelectorAll(fields)].filter((f) => f.name === name);
      places.forEach((f) => { if (f.type === 'radio') f.checked = f.value === value; else f.value = value; });
      places[0]?.closest('details')?.setAttribute('open', '');
      if (!places.length && isNaN(value)) this.left(card, name, value); // not the number of an option
    }
  }

  // left shows what there is no field for.
  left(card, name, value) {
    const note = el('div', { class: 'note kept' },
      el('p', {}, 'You had written this, and it was not sent:'),
      el('p', { class: 'text' }, value),
      el('button', { type: 'button', class: 'quiet', onclick: () => {
        this.take(card, { name, value: '' });
        note.remove();
      } }, 'Discard'));
    card.append(note);
  }

  // clean forgets what nobody came back to.
  clean() {
    try {
      for (const key of Object.keys(localStorage)) {
        if (!key.startsWith(this.prefix)) continue;
        const { at } = JSON.parse(localStorage.getItem(key));
        if (!(Date.now() - at < longest)) localStorage.removeItem(key);
      }
    } catch { /* storage is switched off */ }
  }
}

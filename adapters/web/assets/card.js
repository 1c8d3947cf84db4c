// The card of an approval: HTML that the engine has drawn. A press is a form of it, which is sent with the continuation
// that the card's data has for what was chosen.
import { el } from './dom.js';
import { tell } from './moments.js';
import { Typed } from './typed.js';
import { who } from './who.js';
import { about } from './wire.js';

const forms = new Typed(who, document.getElementById('log'));

// cardNode shows a card. press is that of Log.
export function cardNode(directive, press) {
  const node = drawn(directive);
  const told = el('p', { class: 'progress', role: 'status' });
  const use = { node, told, press, directive };
  node.classList.add('item');
  node.tabIndex = -1;
  node.append(told);
  forms.restore(node);
  node.addEventListener('submit', (e) => {
    e.preventDefault();
    const data = new FormData(e.target);
    if (e.submitter?.name) data.set(e.submitter.name, e.submitter.value);
    decide(use, data);
  });
  let opening = false; // by the reader, not by what was typed before
  node.addEventListener('click', (e) => { opening = Boolean(e.target.closest('.denial summary')); });
  node.addEventListener('toggle', (e) => e.target.open && opening && e.target.querySelector('textarea')?.focus(), true);
  return node;
}

// drawn is a card's HTML.
function drawn(directive) {
  const holder = el('div');
  holder.innerHTML = about(directive).html;
  tell(holder);
  return holder.firstElementChild;
}

// continuationOf is what the reader was given for a choice.
function continuationOf(directive, choice) {
  const a = about(directive);
  const named = [...(directive.payload?.choices ?? []), ...(a.actions ?? [])].find((c) => c.id === choice);
  return { answer: a.answer, withdraw: a.withdraw }[choice] ?? named?.continuation;
}

// typed is what goes with a choice: a reason or, of a question, a text for each field; of a field's choice its place,
// from 1.
function typed(directive, choice, data) {
  if (choice === 'answer') {
    const text = (_, i) => String(data.get(`field-${i}`) ?? '').replaceAll('\r\n', '\n');
    return { typed: directive.payload.question.fields.map(text) };
  }
  const reason = data.get('reason')?.trim();
  return reason ? { reason } : null;
}

const decision = 'Your decision is stored.';
const stored = { approve: decision, remember: decision, deny: decision, answer: 'Your answer is stored.' };

// decide sends a choice, and what was typed. What comes of it arrives as the card's next version.
async function decide(use, data) {
  const choice = data.get('choice');
  const own = typed(use.directive, choice, data);
  const all = use.node.querySelectorAll('button, textarea, input, select');
  const held = use.node.contains(document.activeElement);
  all.forEach((b) => { b.disabled = true; });
  if (held) use.node.focus({ preventScroll: true });
  const tell = (text, bad) => {
    use.told.textContent = text;
    use.told.classList.toggle('bad', Boolean(bad));
  };
  tell('Sending…');
  const { error, overtaken, review } = await use.press(continuationOf(use.directive, choice), own, tell);
  if (error && !overtaken) all.forEach((b) => { b.disabled = false; });
  else if (review) showReview(use, review);
  else forms.arrived(use.node.dataset.approval);
  tell(error ?? (review ? '' : stored[choice] ?? 'Done.'), error && !overtaken); // who decided is no fault
}

// showReview is the second step: everything once more, and the button that approves.
function showReview(use, directive) {
  use.directive = directive;
  use.node.setAttribute('aria-live', 'off'); // it was read out already
  use.node.replaceChildren(...drawn(directive).children, use.told);
  use.node.querySelector('input[type=checkbox]')?.focus();
}

// keepTyped puts the reader back to where they were in a card that another one takes the place of: into a field, with
// what was selected, or on the card.
export function keepTyped(old, node, field) {
  for (const unfolded of ['.denial', '.fold', '.code']) {
    if (old.querySelector(unfolded)?.open) node.querySelector(unfolded)?.setAttribute('open', '');
  }
  if (!field) return;
  const same = field.name && [...node.querySelectorAll('textarea, select, input')]
    .find((f) => f.name === field.name && (f.type !== 'radio' || f.value === field.value));
  (same ?? node).focus({ preventScroll: true });
  if (typeof field.selectionStart === 'number') same?.setSelectionRange(field.selectionStart, field.selectionEnd);
}

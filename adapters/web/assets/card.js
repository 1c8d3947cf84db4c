// The card of an approval.
import { el, time, until } from './dom.js';
import { answerForm, byButtons } from './question.js';
import { about } from './wire.js';

let count = 0;

// cardNode draws a card. press is that of Log.
export function cardNode(a, directive, press) {
  const p = directive.payload ?? {};
  const all = p.facts ?? [];
  const open = directive.action_type === 'request_approval';
  const id = `card-${++count}`;
  const told = el('p', { class: 'progress', role: 'status' });
  const controls = el('div', { class: 'buttons' });
  const node = el('article', { class: `item card${directive.risk_tier === 'dangerous' ? ' dangerous' : ''}${open ? '' : ' closed'}`, 'aria-labelledby': id, tabindex: '-1' },
    el('h3', { class: 'state' }, p.standing ?? p.headline ?? ''),
    el('p', { class: 'summary', id }, el('strong', {}, p.summary ?? p.message ?? '')),
    ...all.filter((f) => !f.label).map((f) => el('p', { class: f.warns ? 'caution' : 'note' }, f.text)),
    facts(p, all.filter((f) => f.label)),
    argumentsNode(p.arguments, open),
    controls, told);
  const use = { node, controls, told, press };
  const form = a.answer && !byButtons(p.question);
  if (form) controls.before(answerForm(p.question, a.answer, (continuation, own) => decide(use, { id: 'answer', continuation }, own)));
  controls.append(...buttons(use, form ? [] : p.choices ?? [], a));
  if (open && !p.choices?.length && !a.answer) controls.append(el('p', { class: 'dim' }, `This waits for somebody who ${p.question ? 'is asked' : 'may decide it'}.`));
  return node;
}

function facts(p, rows) {
  const value = (f) => (f.label === 'Tool' ? el('code', {}, f.text) : f.label === 'Expires' ? el('span', {}, until(p.deadline), ', ', time(p.deadline)) : f.text);
  return el('dl', {}, rows.map((f) => el('div', {}, el('dt', {}, f.label), el('dd', {}, value(f)))));
}

// argumentsNode shows all arguments. Of a decided card they are folded.
function argumentsNode(text, open) {
  if (!text) return null;
  const all = el('pre', { tabindex: '0', role: 'group', 'aria-label': 'Arguments' }, el('code', {}, text));
  return open ? all : el('details', {}, el('summary', {}, 'Arguments'), all);
}

function buttons(use, choices, a) {
  const all = choices.map((c) => choiceButton(use, c));
  if (a.withdraw) all.push(choiceButton(use, { id: 'withdraw', label: 'Withdraw', continuation: a.withdraw }));
  for (const action of a.actions ?? []) all.push(choiceButton(use, action));
  return all;
}

function choiceButton(use, choice) {
  const primary = choice.id === 'approve' || choice.id === 'review' || isOption(choice);
  return el('button', {
    type: 'button',
    class: primary ? 'primary' : choice.id === 'deny' ? 'danger' : '',
    'aria-describedby': use.node.getAttribute('aria-labelledby'),
    'data-choice': choice.id,
    onclick: () => (choice.id === 'deny' ? askWhy(use, choice) : decide(use, choice)),
  }, choice.id === 'deny' ? 'Deny…' : choice.label);
}

const isOption = (choice) => choice.id.startsWith('option-');

// askWhy asks for the reason of a denial, which may be left out unless the rule needs it.
function askWhy(use, choice) {
  if (use.node.querySelector('.why')) return;
  const id = `why-${++count}`;
  const text = el('textarea', { id, rows: '2', maxlength: '2000', required: Boolean(choice.needs_reason) });
  const close = () => {
    form.remove();
    use.controls.hidden = false;
  };
  const form = el('form', {
    class: 'why',
    onsubmit: async (e) => {
      e.preventDefault();
      const reason = text.value.trim();
      await decide(use, choice, reason ? { reason } : null);
    },
    onkeydown: (e) => {
      if (e.key !== 'Escape') return;
      close();
      use.controls.querySelector('[data-choice=deny]')?.focus();
    },
  },
  el('label', { for: id }, 'Reason', choice.needs_reason ? '' : el('span', { class: 'dim' }, ' (may be left out)')), text,
  el('div', { class: 'buttons' }, el('button', { class: 'danger', 'data-choice': 'deny-now' }, 'Deny'), el('button', { type: 'button', onclick: close }, 'Cancel')));
  use.controls.hidden = true;
  use.controls.after(form);
  text.focus();
}

// decide sends a choice and, beside it, what is typed: a reason, or a form. What comes of it arrives as the card's next version.
async function decide(use, choice, own = null) {
  const all = use.node.querySelectorAll('button, textarea, input, select');
  const held = use.node.contains(document.activeElement);
  all.forEach((b) => { b.disabled = true; });
  if (held) use.node.focus({ preventScroll: true });
  const tell = (text, bad) => {
    use.told.textContent = text;
    use.told.classList.toggle('bad', Boolean(bad));
  };
  tell('Sending…');
  const { error, review } = await use.press(choice.continuation, own, tell);
  if (error) {
    all.forEach((b) => { b.disabled = false; });
    tell(error, true);
  } else if (review) {
    showReview(use, review);
    tell('');
  } else {
    tell(choice.id === 'approve' || choice.id === 'deny' ? 'Your decision is stored.' : choice.id === 'answer' || isOption(choice) ? 'Your answer is stored.' : 'Done.');
  }
}

// showReview is the second step: everything once more, and the button that approves.
function showReview(use, directive) {
  const p = directive.payload ?? {};
  use.node.querySelector('.why')?.remove();
  use.controls.hidden = false;
  use.controls.replaceChildren(...buttons(use, p.choices ?? [], about(directive)));
  const note = el('p', { class: 'caution review' }, 'Read everything above before you approve.');
  use.node.querySelector('.review')?.remove();
  use.controls.before(note);
  use.node.querySelector('pre code')?.replaceChildren(p.arguments ?? '');
  use.controls.querySelector('button')?.focus();
}

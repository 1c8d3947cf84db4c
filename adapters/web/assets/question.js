// The form that answers a question. It sends what was typed, a text for each field: of a choice its place, from 1.
import { el } from './dom.js';

const few = 5; // choices that are shown as buttons
const longText = 200; // characters that a field of one line may have

let count = 0;

// byButtons: a press of one of a few options is the answer.
export function byButtons(question) {
  const fields = question?.fields ?? [];
  return Boolean(question) && !question.form && fields.length === 1 && fields[0].choices?.length <= few && !fields[0].hint;
}

// answerForm makes the form. send(continuation, own) sends what was typed.
export function answerForm(question, continuation, send) {
  const fields = question.fields.map((f, i) => ({ place: i, name: `field-${i}`, id: `answer-${++count}`, ...f }));
  const form = el('form', {
    class: 'answer',
    onsubmit: (e) => {
      e.preventDefault();
      const typed = new FormData(form);
      send(continuation, { typed: fields.map((f) => String(typed.get(f.name) ?? '').replaceAll('\r\n', '\n')) });
    },
  }, fields.map(fieldNode), el('div', { class: 'buttons' }, el('button', { class: 'primary' }, 'Answer')));
  return form;
}

function fieldNode(f) {
  const label = [f.title ?? 'Answer', f.required ? '' : el('span', { class: 'dim' }, ' (may be left out)')];
  const hint = [f.hint, limits(f)].filter(Boolean).join('. ').replace('.. ', '. ');
  const told = hint ? el('p', { class: 'dim', id: `${f.id}-hint` }, hint) : null;
  const about = { 'aria-describedby': hint ? `${f.id}-hint` : null };
  if (f.choices && f.required && f.choices.length <= few) {
    return el('fieldset', about, el('legend', {}, label), told,
      f.choices.map((c, i) => el('p', {}, el('label', {}, el('input', { type: 'radio', name: f.name, value: i + 1, required: true }), ` ${c.title}`))));
  }
  return el('div', { class: 'field' }, el('label', { for: f.id }, label), told, control(f, { id: f.id, name: f.name, required: f.required, ...about }));
}

function control(f, common) {
  if (f.choices) {
    return el('select', common, el('option', { value: '' }, f.required ? 'Choose…' : '–'), f.choices.map((c, i) => el('option', { value: i + 1 }, c.title)));
  }
  if (f.kind === 'integer') return el('input', { type: 'number', step: '1', min: whole(f.minimum), max: whole(f.maximum), ...common });
  if (f.kind === 'number') return el('input', { type: 'number', step: 'any', min: f.minimum, max: f.maximum, ...common });
  if (f.max_length > longText) return el('textarea', { rows: '4', ...common });
  return el('input', { type: 'text', autocomplete: 'off', ...common });
}

const whole = (bound) => (Number.isInteger(bound) ? bound : null);

function limits(f) {
  const low = f.minimum !== undefined;
  const high = f.maximum !== undefined;
  if (low && high) return `From ${f.minimum} to ${f.maximum}.`;
  if (low) return `${f.minimum} or more.`;
  if (high) return `${f.maximum} or less.`;
  if (f.min_length) return `${f.min_length} to ${f.max_length} characters.`;
  return f.kind === 'text' && f.max_length < 3000 ? `At most ${f.max_length} characters.` : '';
}

// keepTyped puts what was typed into a card's form into that of the card that takes its place.
export function keepTyped(old, node) {
  for (const from of old.querySelectorAll('form.answer [name]')) {
    for (const to of node.querySelectorAll(`form.answer [name="${from.name}"]`)) {
      if (from.type !== 'radio') to.value = from.value;
      else if (to.value === from.value) to.checked = from.checked;
    }
  }
}

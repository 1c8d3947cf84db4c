// The log-out. Words that are not sent are asked about first: they are sent, or discarded, or the person stays. Whatever
// ends a login otherwise erases nothing: what was written is kept under the person's name.
import { at } from './base.js';
import { el } from './dom.js';
import { Keep } from './keep.js';
import { Outbox } from './outbox.js';
import { who } from './who.js';
import { textOf } from './wire.js';

const form = document.getElementById('logout');
const shown = 5; // texts
const look = 200; // milliseconds between looks at whether all is sent

let here; // the chat on this page: { session, outbox, send }, send sends the draft, too; none on other pages

// words are what is not sent, by session: { session, texts, keep, outbox }.
function words() {
  const sessions = new Set([...Outbox.sessions(who), ...Keep.sessions(who)]);
  return [...sessions].map((session) => {
    const keep = new Keep(who, session);
    const outbox = session === here?.session ? here.outbox : new Outbox(who, session, () => {});
    const texts = outbox.unsent.filter((e) => !e.quiet).map((e) => textOf(e.body));
    return { session, texts: keep.draft.trim() ? [...texts, keep.draft.trim()] : texts, keep, outbox };
  }).filter(({ texts }) => texts.length);
}

const told = el('p', { role: 'status' });
const list = el('ul');
const button = (label, act, kind) => el('button', { type: 'button', class: kind, onclick: act }, label);
const send = button('Send', () => sending(), 'primary');
const dialog = el('dialog', { class: 'leave', 'aria-labelledby': 'leaving' },
  el('h2', { id: 'leaving' }, 'Not sent yet'),
  list, told,
  el('div', { class: 'buttons' }, send, button('Discard', discard, 'danger'), button('Stay', () => dialog.close())));

function ask() {
  const texts = words().flatMap((w) => w.texts);
  const more = texts.length - shown;
  list.replaceChildren(...texts.slice(0, shown).map((text) => el('li', {}, text)));
  if (more > 0) list.append(el('li', {}, `and ${more} more`));
  told.textContent = 'Shall this be sent before you log out?';
  send.disabled = false;
  if (!dialog.isConnected) document.body.append(dialog);
  if (!dialog.open) dialog.showModal();
}

function discard() {
  for (const { keep, outbox } of words()) {
    outbox.discard();
    keep.draft = '';
  }
  form.submit();
}

// ofHere are the words of the chat on this page.
const ofHere = (all) => all.find((w) => w.session === here?.session);

// sending sends what is not sent, here and then in the chat of each other session, and logs out. It ends when the person
// does not wait, or something can't be sent.
async function sending() {
  send.disabled = true;
  told.textContent = 'Sending…';
  const own = ofHere(words());
  for (const { body, fault } of own?.outbox.unsent ?? []) {
    if (fault && fault.todo !== 'shorten') own.outbox.change(body.request_id, { fault: undefined }); // once more
  }
  if (own) here.send();
  while (dialog.open) {
    const left = words();
    const rest = ofHere(left);
    if (!left.length) {
      form.submit();
      return;
    }
    if (!rest) {
      location.assign(at(`/?session=${encodeURIComponent(left[0].session)}#logout`));
      return;
    }
    const fault = rest.outbox.unsent.find((e) => e.fault)?.fault;
    if (fault) {
      told.textContent = `Not sent: ${fault.text}`;
      send.disabled = false;
      return;
    }
    await new Promise((done) => { setTimeout(done, look); });
  }
}

// chatHere is called by the chat of a page. It goes on with a log-out that another page began.
export function chatHere(chat) {
  here = chat;
  if (location.hash !== '#logout' || !form) return;
  history.replaceState(null, '', location.pathname + location.search);
  if (!words().length) return;
  ask();
  sending();
}

form?.addEventListener('submit', (e) => {
  if (!words().length) return;
  e.preventDefault();
  ask();
});

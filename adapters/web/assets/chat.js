// The chat: a Shell of OpenHarness, which uses the endpoint and its events and nothing else.
import { Keep } from './keep.js';
import { Log } from './log.js';
import { Stream } from './stream.js';
import { Unreachable, about, deliver, message, resume, sleep } from './wire.js';

const $ = (id) => document.getElementById(id);
const { session, who } = $('chat').dataset;
const keep = new Keep(who, session);
const log = new Log($('log'), $('latest'), press);

const states = {
  connecting: 'Connecting…',
  connected: 'Connected',
  reconnecting: 'Reconnecting… What you write is kept.',
  offline: 'Offline. What you write is kept, and sent when you are online again.',
};
const quiet = 300; // milliseconds without news after which the past is complete
let settling;

const stream = new Stream(session, (envelope) => {
  log.take(envelope);
  settle();
}, (state) => {
  $('connection').className = state;
  $('connection').querySelector('.text').textContent = states[state];
  if (state === 'connected') settle();
});

function settle() {
  clearTimeout(settling);
  settling = setTimeout(() => log.settled(), quiet);
}

const woken = () => stream.woken();

// Working. It counts the requests that a turn runs for.
let running = 0;
function working(n) {
  running += n;
  $('working').textContent = running > 0 ? 'Working…' : '';
  $('stop').hidden = running === 0;
}

// answered shows an answer, and waits for the end of a turn that takes longer than a request.
async function answered(envelope, waiting) {
  log.take(envelope);
  if (!envelope.refused && envelope.response.error && !about(envelope.response).id) log.item({ kind: 'notice' }, { text: envelope.response.error.message });
  for (let pause = 1000; ; pause = Math.min(pause * 1.5, 5000)) {
    const status = (envelope.response.action_directives ?? []).map(about).find((a) => a.kind === 'working')?.status;
    if (!status) return;
    await sleep(pause);
    envelope = await deliver(resume(session, status), { waiting, woken });
    log.take(envelope);
  }
}

// refusal is why a request was not taken; "" if it was, also if its turn failed: the answer says so.
function refusal(envelope) {
  return envelope.refused ? envelope.response.error?.message ?? 'The request was refused.' : '';
}

// send sends a message that is kept already, and shows it unless it is a control of the page.
async function send(body, shown) {
  const text = body.request.context.user_intent;
  const bubble = shown ? log.say(body.request_id, text) : null;
  let online = true;
  let sent = false;
  working(1);
  const waiting = (gone) => {
    if (gone === !online) return;
    online = !gone;
    working(gone ? -1 : 1);
    if (!sent) bubble?.progress(gone ? 'Not sent yet. It is sent when the connection is back.' : '');
  };
  try {
    const envelope = await deliver(body, { waiting, woken });
    keep.remove(body);
    sent = true;
    const fault = refusal(envelope);
    if (!fault) bubble?.arrived();
    else if (bubble) bubble.fail(fault, () => putBack(text));
    else log.item({ kind: 'notice' }, { text: fault });
    await answered(envelope, waiting);
  } finally {
    if (online) working(-1);
  }
}

// press presses a button of a card or an error. A decision is not sent long after it was made.
async function press(continuation, own, tell = () => {}) {
  const waiting = (gone) => tell(gone ? 'There is no connection. Trying again…' : 'Sending…');
  try {
    const envelope = await deliver(resume(session, continuation, own), { waiting, woken, patience: 60000 });
    const error = refusal(envelope);
    if (error) return { error };
    const review = (envelope.response.action_directives ?? []).find((d) => about(d).kind === 'review');
    if (review) return { review };
    working(1);
    answered(envelope, () => {}).finally(() => working(-1));
    return {};
  } catch (e) {
    if (e instanceof Unreachable) return { error: 'There is no connection. Whether this arrived is not known: when you are connected again, look, then press again if you still need to.' };
    throw e;
  }
}

// The composer.
const box = $('message');

function resize() { box.rows = Math.min(10, box.value.split('\n').length); }

function putBack(text) {
  box.value = box.value ? `${text}\n${box.value}` : text;
  keep.draft = box.value;
  resize();
  box.focus();
}

function submit() {
  const text = box.value.trim();
  if (!text) return;
  const body = message(session, text);
  keep.add(body);
  box.value = '';
  keep.draft = '';
  resize();
  send(body, true);
}

$('composer').addEventListener('submit', (e) => {
  e.preventDefault();
  submit();
  box.focus();
});
box.addEventListener('keydown', (e) => {
  if (e.key !== 'Enter' || e.shiftKey || e.isComposing || e.keyCode === 229) return; // 229: an input method takes the key
  e.preventDefault();
  submit();
});
box.addEventListener('input', () => {
  keep.draft = box.value;
  resize();
});
$('new').addEventListener('click', () => {
  send(message(session, '!new'), false);
  box.focus();
});
$('stop').addEventListener('click', () => {
  send(message(session, '!stop'), false);
  box.focus();
});
document.getElementById('logout')?.addEventListener('submit', () => Keep.forget());

box.value = keep.draft;
resize();
for (const body of keep.unsent) send(body, true);
if (matchMedia('(hover: hover)').matches) box.focus(); // on a phone, the keyboard would cover the conversation

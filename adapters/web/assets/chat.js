// The chat: a Shell of OpenHarness, which uses the endpoint and its events and nothing else.
import { place } from './base.js';
import { Keep } from './keep.js';
import { Live } from './live.js';
import { Log } from './log.js';
import { chatHere } from './logout.js';
import { Outbox } from './outbox.js';
import { Sender } from './sender.js';
import { Stream } from './stream.js';
import { sleep, times } from './times.js';
import { Unsent } from './unsent.js';
import { Verdict } from './verdict.js';
import { seen } from './who.js';
import { Unreachable, about, deliver, message, resume } from './wire.js';
import { Working } from './working.js';

const $ = (id) => document.getElementById(id);
const { session, who } = $('chat').dataset;
const keep = new Keep(who, session);
const log = new Log($('log'), { latest: $('latest'), news: $('news') }, press);
const live = new Live(log);
const working = new Working($('working'), $('stop'));

const states = {
  connecting: 'Connecting…',
  connected: 'Connected',
  polling: 'Connected, but something between here and gatehouse holds back what is new: '
    + 'it is asked for every few seconds.',
  reconnecting: 'Reconnecting… What you write is kept.',
  offline: 'Offline. What you write is kept, and sent when you are online again.',
};
const quiet = 300; // milliseconds without news after which the past is complete
let settling;

const stream = new Stream($('chat').dataset, {
  heard: (envelope) => {
    if (envelope.turn) {
      working.turn(envelope.turn);
      live.running(envelope.turn.since);
      return;
    }
    if (envelope.delta) {
      working.delta(envelope.delta);
      live.delta(envelope.delta);
      return;
    }
    log.take(envelope);
    for (const a of (envelope.response.action_directives ?? []).map(about)) {
      if (a.kind === 'said') outbox.remove(a.request_id);
    }
    settle();
  },
  changed: (state, { text, own, now }) => {
    $('connection').className = state;
    $('connection').querySelector('.text').textContent = text ?? states[state];
    $('again').hidden = state !== 'login' && state !== 'refused';
    $('again').textContent = state === 'login' ? 'Log in again' : 'Try again';
    if (state === 'login' && own) seen(now);
    if (state === 'connected' || state === 'polling') {
      settle();
      sender.send();
    }
  },
  anew: () => {
    log.clear();
    live.drop();
  },
});

// What was written leaves through one sender, and is shown as unsent until it has.
// A tab may be closed before it has sent it: then another one does.
const outbox = new Outbox(who, session, () => {
  unsent.draw();
  if (!outbox.next()?.fault) sender.send();
});
const unsent = new Unsent(outbox, log, {
  again: () => sender.send(),
  login: () => logIn(),
  back: (text) => putBack(text),
});
const sender = new Sender(outbox, {
  name: `${place} send ${who} ${session}`,
  woken: () => stream.woken(),
  stored: (entry, envelope) => answered(envelope, () => {}, entry.body.request_id),
});

// logIn leads to whoever asks for a log-in: gatehouse, or what answers in its place.
function logIn() { location.reload(); }

$('again').addEventListener('click', () => ($('connection').className === 'login' ? logIn() : stream.now()));

function settle() {
  clearTimeout(settling);
  settling = setTimeout(() => log.settled(), quiet);
}

const woken = () => stream.woken();

// answered shows an answer, and waits for the end of a turn that takes longer than a request: of the message with this
// id, if one is given.
async function answered(envelope, waiting, id) {
  try {
    await followed(envelope, waiting);
    if (id) unsent.settle(id);
  } catch (e) {
    if (!(e instanceof Verdict || e instanceof Unreachable)) throw e; // the stream tells what became of it
  }
}

async function followed(envelope, waiting) {
  log.take(envelope);
  const { error } = envelope.response;
  if (!envelope.refused && error && !about(envelope.response).id) log.item({ kind: 'notice' }, { text: error.message });
  for (let pause = 1000; ; pause = Math.min(pause * 1.5, 5000)) {
    const status = (envelope.response.action_directives ?? []).map(about).find((a) => a.kind === 'working')?.status;
    if (!status) return;
    await sleep(pause);
    envelope = await deliver(resume(session, status), { waiting, woken, patience: Infinity });
    log.take(envelope);
  }
}

// refusal is why a request was not taken; "" if it was, also if its turn failed: the answer says so.
function refusal(envelope) {
  return envelope.refused ? envelope.response.error?.message ?? 'The request was refused.' : '';
}

// send keeps a message, and has it sent when its turn comes.
function send(body, quiet) {
  outbox.add(body, quiet);
  sender.send();
}

const unknown = 'There is no connection. Whether this arrived is not known: when you are connected again, look, then '
  + 'press again if you still need to.';

// press presses a button of a card or an error. A decision is not sent long after it was made.
async function press(continuation, own, tell = () => {}) {
  const waiting = (gone) => tell(gone ? 'There is no connection. Trying again…' : 'Sending…');
  try {
    const envelope = await deliver(resume(session, continuation, own), { waiting, woken, patience: times.press });
    const error = refusal(envelope);
    if (error) return { error, overtaken: envelope.response.error?.details?.cause === 'approval_decided' };
    const review = (envelope.response.action_directives ?? []).find((d) => about(d).kind === 'review');
    if (review) return { review };
    answered(envelope, () => {});
    return {};
  } catch (e) {
    if (e instanceof Verdict) {
      return { error: e.message };
    }
    if (e instanceof Unreachable) return { error: unknown };
    throw e;
  }
}

// The composer.
const box = $('message');

const coarse = matchMedia('(pointer: coarse)');
box.enterKeyHint = coarse.matches ? 'enter' : 'send';

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
  send(message(session, text));
  log.toEnd();
  box.value = '';
  keep.draft = '';
  resize();
}

$('composer').addEventListener('submit', (e) => {
  e.preventDefault();
  submit();
  box.focus();
});
box.addEventListener('keydown', (e) => {
  if (e.key !== 'Enter' || e.shiftKey || e.isComposing || e.keyCode === 229) return; // 229: an input method takes the key
  if (coarse.matches && !e.ctrlKey && !e.metaKey) return; // the keyboard of a touch screen has no Shift+Enter
  e.preventDefault();
  submit();
});
box.addEventListener('input', () => {
  keep.draft = box.value;
  resize();
});
$('new').addEventListener('click', () => {
  send(message(session, '!new'), true);
  box.focus();
});

// Stop overtakes what is not sent, and asks what shall become of it.
$('stop').addEventListener('click', async () => {
  if (outbox.unsent.length) {
    $('discard').returnValue = ''; // or the answer of last time would count for Escape
    $('discard').showModal();
  }
  box.focus();
  try {
    const envelope = await deliver(message(session, '!stop'), { woken, patience: times.press });
    const fault = refusal(envelope);
    if (fault) log.item({ kind: 'notice' }, { text: fault });
    else log.take(envelope);
  } catch (e) {
    if (!(e instanceof Verdict || e instanceof Unreachable)) throw e;
    const text = 'There is no connection. Whether anything was stopped is not known.';
    log.item({ kind: 'notice' }, { text: e instanceof Verdict ? e.message : text });
  }
});
$('discard').addEventListener('close', (e) => e.target.returnValue === 'discard' && outbox.discard());

box.value = keep.draft;
resize();
unsent.draw();
for (const { body, stored, status } of outbox.all) {
  if (!stored) continue;
  deliver(resume(session, status), { woken }).then((now) => answered(now, () => {}, body.request_id), () => {});
}
sender.send();
chatHere({
  session,
  outbox,
  send: () => {
    submit();
    sender.send();
  },
});
if (matchMedia('(hover: hover)').matches) box.focus(); // on a phone, the keyboard would cover the conversation

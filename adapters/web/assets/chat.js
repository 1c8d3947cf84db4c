// The chat: a Shell of OpenHarness, which uses the endpoint and its events and nothing else.
import { place } from './base.js';
import { Chats } from './chats.js';
import { Composer } from './composer.js';
import { Earlier } from './earlier.js';
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
import { away, seen } from './who.js';
import { Unreachable, about, deliver, message, replacedBy, resume } from './wire.js';
import { Working } from './working.js';

const $ = (id) => document.getElementById(id);
const { session, who, token, upload } = $('chat').dataset;
const keep = new Keep(who, session);
const log = new Log($('log'), { latest: $('latest'), news: $('news') }, press);
const live = new Live(log);
const earlier = new Earlier(session, log);
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
let lost = false; // the connection was: of the list, something may have been missed

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
    lost ||= state === 'reconnecting' || state === 'offline';
    if (state === 'login' && own) seen(now);
    if (state === 'connected' || state === 'polling') {
      if (lost) chats.load();
      lost = false;
      settle();
      sender.send();
    }
  },
  anew: () => {
    log.clear();
    live.drop();
    earlier.anew();
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
  back: (text) => composer.back(text),
});
const sender = new Sender(outbox, {
  name: `${place} send ${who} ${session}`,
  woken: () => stream.woken(),
  stored: (entry, envelope) => {
    if (about(envelope.response).replaced) outbox.remove(replacedBy(entry.body));
    answered(envelope, () => {}, entry.body.request_id);
  },
});

// logIn leads to whoever asks for a log-in: gatehouse, or what answers in its place.
function logIn() { location.reload(); }

$('again').addEventListener('click', () => ($('connection').className === 'login' ? logIn() : stream.now()));

function settle() {
  clearTimeout(settling);
  settling = setTimeout(() => {
    log.settled();
    earlier.look();
    welcome();
  }, quiet);
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

const composer = new Composer({
  keep, log, outbox, largest: Number(upload), send: (text, more) => {
    send(message(session, text, more));
    log.toEnd();
  },
});

// An empty conversation has a first screen; a press of an example sends it.
function welcome() { $('welcome').hidden = !log.ready || $('log').querySelector('.item') !== null; }

new MutationObserver(welcome).observe($('log'), { childList: true });
for (const example of document.querySelectorAll('.example')) {
  example.addEventListener('click', () => {
    send(message(session, example.textContent));
    composer.box.focus();
  });
}

function renamed(title) {
  const shown = title || 'New conversation';
  document.querySelector('.bar h1').textContent = shown;
  if (!away()) document.title = `${shown} – gatehouse`;
}

const chats = new Chats({
  session, token, renamed, gone: () => { // what is being written is kept
    renamed('');
    log.clear();
    log.item({ kind: 'notice' }, { text: 'This conversation was deleted. What is written here begins it anew.' });
    settle();
  },
});

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

$('new').addEventListener('click', () => {
  send(message(session, '!new'), true);
  composer.box.focus();
});

// Stop overtakes what is not sent, and asks what shall become of it.
$('stop').addEventListener('click', async () => {
  if (outbox.unsent.length) {
    $('discard').returnValue = ''; // or the answer of last time would count for Escape
    $('discard').showModal();
  }
  composer.box.focus();
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
    composer.submit();
    sender.send();
  },
});
if (matchMedia('(hover: hover)').matches) composer.box.focus(); // on a phone, the keyboard would cover the conversation

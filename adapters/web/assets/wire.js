// Messages of OpenHarness, and how they are sent so that none is lost and none counts twice.
import { at } from './base.js';
import { backoff, sleep, times } from './times.js';
import { envelopeOf, notYou, verdictOf } from './verdict.js';
import { as, seen } from './who.js';

const endpoint = at('/v1/openharness');
const namespace = 'dev.gatehouse';

// newID returns a random UUID. Browsers have randomUUID on secure pages only.
export function newID() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

function request(session, context, extensions) {
  const { locale, timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const shell = {
    shell_kind: 'gatehouse_web', locale: navigator.language || locale, timezone: timeZone || 'UTC',
  };
  return {
    protocol_version: '1.0.0',
    request_id: newID(),
    capabilities: { 'openharness.ui.approval': true },
    request: {
      context: { session_id: session, ...context, shell },
      ...(extensions && { extensions }),
    },
  };
}

// message is what a person writes: a text, files that were uploaded, or both. replaces: the request_id of an earlier
// message, in whose place this one is put unless its turn has begun.
export const message = (session, text, { attachments, replaces } = {}) => request(session,
  { ...(text && { user_intent: text }), ...(attachments && { attachments }) },
  replaces ? { [namespace]: { replaces } } : undefined);

// textOf is what a message says, as gatehouse repeats it.
export const textOf = ({ request: { context } }) => [context.user_intent ?? '',
  ...(context.attachments ?? []).map((a) => `[attachment: ${a.filename}]`)].join('\n').trim();

// replacedBy is the request_id of the message that a message is to take the place of.
export const replacedBy = ({ request: { extensions } }) => extensions?.[namespace]?.replaces;

// resume sends back what a button was given, unchanged, and beside it what is ours: a reason, or what was typed into a
// form.
export const resume = (session, continuation, own) => (
  request(session, { continuation }, own ? { [namespace]: own } : undefined)
);

// about returns what gatehouse says about a directive or a response.
export const about = (thing) => thing?.extensions?.[namespace] ?? {};

// Unreachable is thrown if no answer of gatehouse arrived: nobody knows whether the request did.
export class Unreachable extends Error {}

// post sends a request once. wait: how many seconds to wait for its turn at most, 0 to be answered once it is stored.
// It throws a Verdict for what can't succeed by being sent again.
export async function post(body, wait) {
  let response;
  let envelope;
  const headers = { 'Content-Type': 'application/json', ...as, ...(wait !== undefined && { Prefer: `wait=${wait}` }) };
  try {
    response = await fetch(`${endpoint}?html=1&deltas=1`, {
      method: 'POST', body: JSON.stringify(body), headers, signal: AbortSignal.timeout(times.post),
      credentials: 'same-origin', cache: 'no-store', redirect: 'manual',
    });
    envelope = await envelopeOf(response);
  } catch (cause) {
    throw new Unreachable('no answer', { cause }); // no connection, or none that lets an answer through
  }
  if (!envelope) throw verdictOf(response) ?? new Unreachable(`status ${response.status}`);
  const gone = notYou(response, envelope);
  if (gone) {
    seen(gone.now);
    throw gone;
  }
  const again = response.status >= 429 && envelope.response.error?.retryable;
  const pause = Number(response.headers.get('Retry-After')) * 1000;
  return { ...envelope, refused: response.status !== 200, again, pause };
}

const never = () => new Promise(() => {});

// deliver sends a request until it is answered, always under its own request_id, and returns the envelope; refused
// tells that the request was not taken. One that gatehouse can't take now is repeated, too. options: waiting is called
// with true while there is no connection, and with false after; woken returns a promise that a new connection fulfils;
// patience is how long it is tried without a connection.
export async function deliver(body, { waiting = () => {}, woken = never, patience = times.patience } = {}) {
  const begun = performance.now();
  let refused = 0;
  for (let n = 0; ; n++) {
    try {
      const answer = await post(body);
      waiting(false);
      if (!answer.again || refused === 5) return answer;
      refused++;
      await sleep(Math.max(answer.pause || 0, backoff(refused)));
    } catch (e) {
      if (!(e instanceof Unreachable) || performance.now() - begun > patience) throw e;
      waiting(true);
      await Promise.race([sleep(backoff(n)), woken()]);
    }
  }
}

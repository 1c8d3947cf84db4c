// Messages of OpenHarness, and how they are sent so that none is lost and none counts twice.

const endpoint = '/v1/openharness';
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
  return {
    protocol_version: '1.0.0',
    request_id: newID(),
    capabilities: { 'openharness.ui.approval': true },
    request: {
      context: { session_id: session, ...context, shell: { shell_kind: 'gatehouse_web', locale: navigator.language || locale, timezone: timeZone || 'UTC' } },
      ...(extensions && { extensions }),
    },
  };
}

export const message = (session, text) => request(session, { user_intent: text });

// resume sends back what a button was given, unchanged, and beside it what is ours: a reason, or what was typed into a form.
export const resume = (session, continuation, own) => request(session, { continuation }, own ? { [namespace]: own } : undefined);

// about returns what gatehouse says about a directive or a response.
export const about = (thing) => thing?.extensions?.[namespace] ?? {};

// eventsURL is the address of a session's events, of those after a place if one is given.
export function eventsURL(session, after) {
  const query = new URLSearchParams({ session, html: '1' });
  if (after) query.set('after', after);
  return `${endpoint}/events?${query}`;
}

export function toLogin() {
  location.assign(`/login?next=${encodeURIComponent(location.pathname + location.search)}`);
}

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// backoff is how long to wait before try n, from 0: 1 s, 2 s, 4 s … 30 s, and up to a quarter more.
export const backoff = (n) => Math.min(30000, 1000 * 2 ** Math.min(n, 5)) * (1 + Math.random() / 4);

// Unreachable is thrown if no answer of gatehouse arrived: nobody knows whether the request did.
export class Unreachable extends Error {}

async function post(body) {
  let response;
  let envelope;
  try {
    response = await fetch(`${endpoint}?html=1`, {
      method: 'POST', body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' }, credentials: 'same-origin', cache: 'no-store', redirect: 'error',
    });
    envelope = await response.json();
  } catch (cause) {
    throw new Unreachable('no answer', { cause }); // no connection, or a proxy answers
  }
  if (!envelope?.response) throw new Unreachable('no envelope');
  return { status: response.status, wait: Number(response.headers.get('Retry-After')) * 1000, envelope };
}

// deliver sends a request until it is answered, always under its own request_id, and returns the envelope; refused tells that the request was
// not taken. One that gatehouse can't take now is repeated, too. options: waiting is called with true while there is no connection, and with false after; woken returns a
// promise that a new connection fulfils; patience is how many milliseconds are spent without a connection.
export async function deliver(body, { waiting = () => {}, woken = () => new Promise(() => {}), patience = Infinity } = {}) {
  const begun = Date.now();
  let refused = 0;
  for (let n = 0; ; n++) {
    try {
      const answer = await post(body);
      waiting(false);
      if (answer.status === 401) {
        toLogin();
        await new Promise(() => {}); // the page goes away
      }
      const again = answer.status >= 429 && answer.envelope.response.error?.retryable && refused < 5;
      if (!again) return { ...answer.envelope, refused: answer.status !== 200 };
      refused++;
      await sleep(Math.max(answer.wait || 0, backoff(refused)));
    } catch (e) {
      if (!(e instanceof Unreachable) || Date.now() - begun > patience) throw e;
      waiting(true);
      await Promise.race([sleep(backoff(n)), woken()]);
    }
  }
}

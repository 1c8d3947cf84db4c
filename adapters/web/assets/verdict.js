// What an HTTP answer means that is not one of gatehouse's: something on the way, such as a proxy, gave it. Its status
// tells what to do.

// Verdict is why a request can't succeed by being sent again. todo is "login": the reader logs in, at whatever wants
// that; "shorten": the text is too long; "retry": a person may try it again. now: of gatehouse's own "login", who is
// logged in, "" for nobody.
export class Verdict extends Error {
  constructor(todo, message, own = false, now = '') {
    super(message);
    Object.assign(this, { todo, own, now });
  }
}

// notYou is the verdict of an answer of gatehouse to a page whose person is not logged in any more; null for any other
// answer.
export function notYou({ status }, envelope) {
  const { message, code, details } = envelope.response.error ?? {};
  if (status !== 401 && !(status === 409 && code === 'other_person')) return null;
  return new Verdict('login', message, true, details?.now);
}

// verdictOf reads an answer without an envelope; null if the same request may succeed later.
export function verdictOf(response) {
  const { status, type } = response;
  const html = (response.headers.get('Content-Type') ?? '').startsWith('text/html');
  if (type === 'opaqueredirect' || status === 401 || status === 407 || status === 511) {
    return new Verdict('login', 'Log in again: something between this page and gatehouse asks for it.');
  }
  if (status === 413) {
    return new Verdict('shorten', 'This is too long for the proxy between this page and gatehouse. Make it shorter.');
  }
  if (status === 403) {
    const text = 'A proxy between this page and gatehouse refuses this (403). Ask who runs it, then try again.';
    return new Verdict('retry', text);
  }
  if (status === 200 && html) {
    return new Verdict('login', 'A page came in place of an answer. Log in again, if that is what it asks for.');
  }
  return null;
}

// envelopeOf reads an answer's envelope; null if it is not one of gatehouse's.
export async function envelopeOf(response) {
  if (!(response.headers.get('Content-Type') ?? '').startsWith('application/json')) return null;
  const envelope = await response.json().catch(() => null);
  return envelope?.response ? envelope : null;
}

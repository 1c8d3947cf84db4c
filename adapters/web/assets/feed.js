// One answer of the events' address: a stream, or what there is now. It is read by hand, not by an EventSource, which
// would hide the status of a refusal and whether anything has come yet.
import { at } from './base.js';
import { Verdict, envelopeOf, notYou, verdictOf } from './verdict.js';

const most = 33; // sessions of one stream; the newest

// eventsURL is the address of the events of sessions, a Map of the last place by name; with approvals there may be none.
// wait: the answer ends with the news, or after so many seconds.
export function eventsURL(sessions, { epoch, beat, approvals, conversations, wait }) {
  const [[session, after] = [], ...more] = [...sessions].slice(-most);
  const query = new URLSearchParams({ html: '1', deltas: '1', beat: String(Math.max(1, Math.round(beat / 1000))) });
  if (session !== undefined) query.set('session', session);
  if (approvals) query.set('approvals', approvals);
  if (conversations) query.set('conversations', conversations);
  if (after >= 0) query.set('after', after);
  if (more.length) query.set('more', JSON.stringify(Object.fromEntries(more)));
  if (epoch) query.set('epoch', epoch);
  if (wait !== undefined) query.set('wait', String(Math.round(wait / 1000)));
  return at(`/v1/openharness/events?${query}`);
}

// read gives each event to take: { event, id, session, data }, session where the answer has several. It returns at the
// answer's end, and throws a Verdict if the request was refused, another error if it may be tried again.
export async function read(url, { headers, signal, take }) {
  const response = await fetch(url, {
    headers, signal, credentials: 'same-origin', cache: 'no-store', redirect: 'manual',
  });
  if (!response.ok || !(response.headers.get('Content-Type') ?? '').startsWith('text/event-stream')) {
    throw (await refusal(response)) ?? new Error(`status ${response.status}`);
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop();
    blocks.map(parsed).forEach((e) => e && take(e));
  }
}

function parsed(block) {
  const e = { event: 'message' };
  for (const line of block.split('\n')) {
    const colon = line.indexOf(': ');
    if (colon > 0) e[line.slice(0, colon)] = line.slice(colon + 2);
  }
  if (e.data === undefined) return null; // a comment
  const session = e.session && JSON.parse(e.session);
  return { event: e.event, id: Number(e.id ?? -1), session, data: JSON.parse(e.data) };
}

async function refusal(response) {
  const envelope = await envelopeOf(response);
  if (!envelope) return verdictOf(response);
  const gone = notYou(response, envelope);
  if (gone) return gone;
  return response.status < 429 ? new Verdict('retry', envelope.response.error?.message, true) : null;
}

// How a tab reaches the hub that it shares with the other tabs of its person: in a shared worker; where a browser has
// none, in the one tab that holds a lock, over a channel; where it has no locks either (a page without TLS), in each
// tab.
import { Hub } from './hub.js';
import { times } from './times.js';

// reach returns how to say something to the hub. name: tabs with the same one share a hub. hear gets what the hub
// tells; met is called when there is a hub that does not know this tab yet.
export function reach(name, hear, met) {
  return globalThis.SharedWorker ? viaWorker(name, hear, met) : withoutWorker(name, hear, met);
}

function withoutWorker(name, hear, met) {
  if (navigator.locks && globalThis.BroadcastChannel) return viaChannel(name, hear, met);
  const hub = new Hub();
  queueMicrotask(met);
  return (message) => hub.take(hear, message);
}

function viaWorker(name, hear, met) {
  const worker = new SharedWorker(new URL('./hubworker.js', import.meta.url), { name, type: 'module' });
  let say = (message) => worker.port.postMessage(message);
  worker.port.onmessage = (e) => hear(e.data);
  worker.onerror = () => { // it was not loaded
    say = withoutWorker(name, hear, met);
  };
  queueMicrotask(met);
  return (message) => say(message);
}

// A tab that leads has the hub; the others write to it under an id of their own. The lock passes to another one when
// its tab is closed, and is taken from a tab that was put to sleep and tells nothing any more.
function viaChannel(name, hear, met) {
  const channel = new BroadcastChannel(name);
  const own = crypto.randomUUID();
  let hub = null;
  let heardAt = performance.now();
  const remote = new Map();
  channel.onmessage = ({ data: { from, to, leads, message } }) => {
    if (hub && from) {
      if (!remote.has(from)) remote.set(from, (m) => channel.postMessage({ to: from, message: m }));
      hub.take(remote.get(from), message);
    } else if (!hub && (leads || to === own)) {
      heardAt = performance.now();
      if (leads) met();
      else hear(message);
    }
  };
  const lead = (options) => navigator.locks.request(name, options, () => {
    hub = new Hub();
    remote.clear();
    channel.postMessage({ leads: true });
    met();
    return new Promise((done) => { left = done; });
  }).catch(() => resign().then(met).then(() => lead({}))); // another tab took it
  let left;
  const resign = async () => {
    for (const tell of [...hub?.tabs.keys() ?? []]) hub.leave(tell);
    hub = null;
    left?.();
  };
  addEventListener('pagehide', resign); // or a page that is kept for its return would keep the lock
  addEventListener('pageshow', (e) => e.persisted && lead({}));
  lead({});
  queueMicrotask(met);
  setInterval(() => {
    if (hub || performance.now() - heardAt < times.silence) return;
    heardAt = performance.now();
    lead({ steal: true });
  }, times.beat);
  return (message) => (hub ? hub.take(hear, message) : channel.postMessage({ from: own, message }));
}

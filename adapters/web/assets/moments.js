// Times as all pages tell them: how long ago, or how far off, in the words in which the engine has drawn them, told anew
// as time passes on its clock; and for whoever hovers the time itself, on their own.
import { now } from './clock.js';

const minute = 60000;
const hour = 60 * minute;
const day = 24 * hour;
const look = 10000; // milliseconds
const ahead = 5000; // that the clock of another process may be ahead of the engine's

// distance is the words for milliseconds from now; those of markup.Moment. null: a date says more.
export function distance(away) {
  const d = Math.abs(away);
  if (d >= 30 * day) return null;
  if (d < minute / 2 && away <= ahead) return 'just now';
  const [unit, name] = [[day, 'day'], [hour, 'hour'], [minute, 'minute']].find(([u]) => d >= u) ?? [minute, ''];
  const n = Math.floor(d / unit);
  const long = n === 0 ? 'less than a minute' : `${n} ${name}${n === 1 ? '' : 's'}`;
  return away > 0 ? `in ${long}` : `${long} ago`;
}

const exact = new Intl.DateTimeFormat([], { dateStyle: 'full', timeStyle: 'long' });
const date = new Intl.DateTimeFormat([], { dateStyle: 'long' });

// tell writes what the times of an element say now.
export function tell(root) {
  for (const node of root.querySelectorAll('time.relative')) {
    const at = Date.parse(node.dateTime);
    const words = distance(at - now()) ?? `on ${date.format(at)}`;
    if (node.textContent !== words) {
      node.setAttribute('aria-live', 'off'); // nobody wants to hear each minute
      node.textContent = words;
    }
    node.title = exact.format(at);
  }
}

tell(document);
setInterval(tell, look, document);

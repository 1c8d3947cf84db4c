// How far off a moment is, in the words in which the engine has drawn it, told anew as time passes on its clock.
import { now } from './clock.js';

const minute = 60000;
const hour = 60 * minute;
const day = 24 * hour;
const look = 10000; // milliseconds

// distance is the words for milliseconds from now; those of markup.Moment. null: a date says more.
export function distance(away) {
  const d = Math.abs(away);
  if (d >= 30 * day) return null;
  if (d < minute / 2 && away <= 0) return 'just now';
  const [unit, name] = [[day, 'day'], [hour, 'hour'], [minute, 'minute']].find(([u]) => d >= u) ?? [minute, ''];
  const n = Math.floor(d / unit);
  const long = n === 0 ? 'less than a minute' : `${n} ${name}${n === 1 ? '' : 's'}`;
  return away > 0 ? `in ${long}` : `${long} ago`;
}

setInterval(() => {
  for (const node of document.querySelectorAll('time.relative')) {
    const words = distance(Date.parse(node.dateTime) - now());
    if (!words || node.firstChild.data === words) continue;
    node.setAttribute('aria-live', 'off'); // nobody wants to hear each minute
    node.firstChild.data = words;
  }
}, look);

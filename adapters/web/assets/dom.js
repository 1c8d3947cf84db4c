// Small helpers for building elements. Texts are always set as text.
import { now } from './clock.js';

// el makes an element. Attributes that are false, null or undefined are left out; one that begins with "on" is a
// listener.
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== ''));
  return node;
}

// time makes the element of a moment: of today the time, else the day, too.
export function time(at) {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return null;
  const today = date.toDateString() === new Date(now()).toDateString();
  const form = { hour: '2-digit', minute: '2-digit', ...(!today && { day: 'numeric', month: 'short' }) };
  return el('time', { datetime: date.toISOString(), title: date.toLocaleString() }, date.toLocaleString([], form));
}

// Small helpers for building elements. Texts are always set as text.
import { tell } from './moments.js';

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

// time makes the element of a moment, null for none.
export function time(at) {
  if (Number.isNaN(Date.parse(at))) return null;
  const holder = el('span', {}, el('time', { class: 'relative', datetime: at }));
  tell(holder);
  return holder.firstElementChild;
}

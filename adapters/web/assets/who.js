// Whom the page was made for. A browser has one login: once another person logs in in another tab, or nobody is logged
// in any more, this page says so, shows nothing more, and sends nothing more. Each request says whom its page was made
// for, so that gatehouse refuses it otherwise.
import { at, place } from './base.js';
import { el } from './dom.js';

// who is the name that the page was made for; "" on a page for nobody.
export const who = document.body.dataset.who ?? '';

// as is the header of a request of this page.
export const as = { 'Gatehouse-As': who };

let now = who; // who is logged in, as far as this page knows

// away reports whether the page is not its reader's any more.
export const away = () => now !== who;

// others are the other tabs of this browser. Each page tells them who is logged in.
const others = globalThis.BroadcastChannel && new BroadcastChannel(`${place} who`);

// seen is called with who is logged in now, "" for nobody. The page goes on once it is its own reader again.
export function seen(name) {
  if (name === now || !who) return;
  now = name;
  if (!away()) {
    location.reload();
    return;
  }
  document.dispatchEvent(new Event('away'));
  show();
}


// show takes the place of the page. What was typed is kept under the person's name.
function show() {
  const title = now ? `You are ${now} here now` : 'You are logged out here';
  const here = encodeURIComponent(location.pathname + location.search);
  const go = (label, onclick, primary) => el('button', { type: 'button', class: primary && 'primary', onclick }, label);
  const head = el('h1', { id: 'away', tabindex: -1 }, title);
  const said = el('section', { class: 'away', role: 'alertdialog', 'aria-labelledby': 'away' },
    head,
    el('p', {}, `This page was made for ${who}. What ${who} has written and not sent is kept.`),
    el('div', { class: 'buttons' },
      now && go(`Go on as ${now}`, () => location.reload(), true),
      go(`Log in as ${who}`, () => location.assign(at(`/login?as=${who}&next=${here}`)), !now)));
  for (const open of document.querySelectorAll('dialog[open]')) open.close(''); // it would keep all else from being used
  const main = document.querySelector('main');
  for (const part of [...document.querySelectorAll('header nav, header .who'), ...main.children]) part.hidden = true;
  main.querySelector('.away')?.remove();
  main.append(said);
  document.title = `${title} – gatehouse`;
  head.focus();
}

if (others && document.body.dataset.who !== undefined) {
  if (!document.body.matches('.login')) others.onmessage = (e) => seen(e.data);
  others.postMessage(document.body.dataset.who);
}

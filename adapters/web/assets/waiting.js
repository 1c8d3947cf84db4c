// How many approvals wait for the reader: on every page in the navigation and in the title, as it is now. Where the
// reader has allowed it, a new one is told by a sound and a notification, by one of the tabs.
import { Stream } from './stream.js';
import { alerts, switches } from './switches.js';
import { away, seen, who } from './who.js';

const count = document.getElementById('waiting');
let waiting = Number(count.dataset.n);

if (!document.getElementById('chat')) { // which has a stream of its own
  new Stream({ session: null, who, login: document.body.dataset.login }, {
    changed: (state, { own, now }) => state === 'login' && own && seen(now),
  });
}

document.addEventListener('approvals', ({ detail: { waiting: n } }) => {
  if (away()) return;
  const more = n > waiting;
  waiting = n;
  show();
  if (more && switches.alert) alerts.one(n);
});

// show writes the count; the title belongs to others, too.
function show() {
  count.textContent = waiting > 99 ? '99+' : waiting || '';
  count.hidden = !waiting;
  const title = document.title.replace(/^\(\d+\) /, '');
  const full = waiting && !away() ? `(${waiting}) ${title}` : title;
  if (document.title !== full) document.title = full;
}

new MutationObserver(show).observe(document.querySelector('title'), { childList: true });

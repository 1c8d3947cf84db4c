// The pages of approvals work without this script. It keeps what is typed into their forms and their times true, moves
// the list as approvals come and go, shows what is selected beside it, and takes keys.
import { Detail } from './approvalsdetail.js';
import { Keys } from './approvalskeys.js';
import { List } from './approvalslist.js';
import './moments.js';
import { alerts, switches } from './switches.js';
import { Typed } from './typed.js';
import { who } from './who.js';

const typed = new Typed(who, document);
const arrived = (root) => root.querySelectorAll('[data-decided]').forEach((n) => typed.arrived(n.dataset.decided));
const restore = (root) => root.querySelectorAll('.card[data-approval]').forEach((card) => typed.restore(card));
arrived(document);
restore(document);

const desk = document.querySelector('.desk');
if (desk) {
  const list = new List(desk.querySelector('.lists'), document.getElementById('news'), {
    selected: (id, page) => detail.show(id, page),
    changed: (id) => detail.refresh(id),
  });
  const detail = new Detail(desk.querySelector('.detail'), {
    restore,
    decided: (page) => {
      arrived(page);
      list.decided(page);
    },
  });
  new Keys(document, list);
  document.addEventListener('approvals', (e) => list.news(e.detail));
  list.begin();

  document.querySelector('.settings').hidden = false;
  const alert = document.getElementById('alert');
  alert.checked = switches.alert;
  alert.addEventListener('change', () => {
    switches.alert = alert.checked;
    if (!alert.checked) return;
    alerts.ask();
    alerts.ring(); // so that one knows what it sounds like
  });
} else {
  new Keys(document, null);
}

// The pages of approvals work without this script. It keeps what is typed into their forms, and their times true.
import './moments.js';
import { Typed } from './typed.js';
import { who } from './who.js';

const typed = new Typed(who, document);
const decided = document.querySelector('[data-decided]')?.dataset.decided;
if (decided) typed.arrived(decided);
document.querySelectorAll('.card[data-approval]').forEach((card) => typed.restore(card));

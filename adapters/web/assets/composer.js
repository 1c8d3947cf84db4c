// The box in which a message is written. What is written is kept; an empty box takes the last own message back, to send
// it again in another form.
import { Files } from './files.js';
import { textOf } from './wire.js';

const $ = (id) => document.getElementById(id);

// On a touch screen Enter begins a line: its keyboard has no Shift+Enter.
const coarse = matchMedia('(pointer: coarse)');

export class Composer {
  // send gets what is written: (text, { attachments, replaces }).
  constructor({ keep, log, outbox, largest, send }) {
    Object.assign(this, { box: $('message'), keep, log, outbox, send, again: null });
    this.files = new Files($('files'), largest, () => this.draw());
    this.box.enterKeyHint = coarse.matches ? 'enter' : 'send';
    this.box.value = keep.draft;
    $('composer').addEventListener('submit', (e) => {
      e.preventDefault();
      this.submit();
      this.box.focus();
    });
    this.box.addEventListener('keydown', (e) => this.key(e));
    this.box.addEventListener('input', () => this.written());
    $('editing').querySelector('button').addEventListener('click', () => this.leave());
    this.takesFiles();
    this.draw();
  }

  takesFiles() {
    $('attach').addEventListener('change', (e) => {
      this.files.add(e.target.files);
      e.target.value = ''; // the same file may be chosen again
      this.box.focus();
    });
    this.box.addEventListener('paste', (e) => {
      if (!e.clipboardData.files.length) return;
      e.preventDefault();
      this.files.add(e.clipboardData.files);
    });
    const talk = document.querySelector('.talk');
    for (const kind of ['dragenter', 'dragover']) talk.addEventListener(kind, (e) => {
      if (!e.dataTransfer.types.includes('Files')) return;
      e.preventDefault();
      talk.classList.add('drop');
    });
    talk.addEventListener('dragleave', (e) => talk.contains(e.relatedTarget) || talk.classList.remove('drop'));
    talk.addEventListener('drop', (e) => {
      talk.classList.remove('drop');
      if (!e.dataTransfer.files.length) return;
      e.preventDefault();
      this.files.add(e.dataTransfer.files);
    });
  }

  key(e) {
    if (e.isComposing || e.keyCode === 229) return; // an input method takes the key
    if (e.key === 'Escape') {
      if (this.again) this.leave();
      else this.log.node.focus({ preventScroll: true });
    } else if (e.key === 'ArrowUp' && !this.box.value && !this.files.all.size) {
      if (this.takeBack()) e.preventDefault();
    } else if (e.key === 'Enter' && !e.shiftKey && (!coarse.matches || e.ctrlKey || e.metaKey)) {
      e.preventDefault();
      this.submit();
    }
  }

  // takeBack puts the last own message into the box; false if there is none without files.
  takeBack() {
    const last = this.log.lastSaid();
    if (!last) return false;
    const waits = this.outbox.all.find((e) => e.body.request_id === last.id);
    if (waits?.fault) this.outbox.remove(last.id); // it was not taken
    else this.again = last.id;
    this.box.value = waits ? textOf(waits.body) : last.text;
    this.written();
    return true;
  }

  // leave empties the box of a message that was taken back.
  leave() {
    this.again = null;
    this.put('');
    this.box.focus();
  }

  submit() {
    const text = this.box.value.trim();
    const { attachments, busy, faulty } = this.files;
    if ((!text && !attachments.length) || busy || faulty) return;
    this.send(text, { ...(attachments.length && { attachments }), ...(this.again && { replaces: this.again }) });
    this.again = null;
    this.files.clear();
    this.put('');
  }

  // back puts a text before what is written.
  back(text) {
    this.put(this.box.value ? `${text}\n${this.box.value}` : text);
    this.box.focus();
  }

  put(text) {
    this.box.value = text;
    this.written();
  }

  written() {
    this.keep.draft = this.box.value;
    this.draw();
  }

  draw() {
    this.box.rows = Math.min(10, this.box.value.split('\n').length); // for browsers without field-sizing
    $('editing').hidden = !this.again;
    $('send').disabled = this.files?.busy || this.files?.faulty || false;
  }
}

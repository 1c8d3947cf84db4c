// The files that go with the next message: dropped, pasted or chosen. Each is uploaded at once, and shown with its name
// and size, what became of it, and a button that removes it.
import { at } from './base.js';
import { el } from './dom.js';
import { as } from './who.js';

const address = at('/v1/openharness/attachments');
const most = 32; // files of a message

export const sized = (bytes) => (bytes < 1000 ? `${bytes} B`
  : bytes < 1e6 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);

export class Files {
  // list shows them; largest is how many bytes one may have; changed is called when one comes, goes or is uploaded.
  constructor(list, largest, changed) { Object.assign(this, { list, largest, changed, all: new Set() }); }

  get busy() { return [...this.all].some((f) => !f.asset && !f.fault); }

  get faulty() { return [...this.all].some((f) => f.fault); }

  // attachments are the files as a message names them.
  get attachments() {
    return [...this.all].filter((f) => f.asset).map(({ asset, file }) => ({
      asset_id: asset, filename: file.name || 'file', size_bytes: file.size, ...(file.type && { mime_type: file.type }),
    }));
  }

  add(files) {
    for (const file of files) {
      const one = { file, told: el('span', { class: 'why', role: 'status' }) };
      one.node = el('li', {},
        el('span', { class: 'name', dir: 'auto' }, file.name || 'file'), el('span', { class: 'dim' }, sized(file.size)), one.told,
        el('button', { type: 'button', class: 'quiet', 'aria-label': `Remove ${file.name || 'the file'}`, onclick: () => this.remove(one) }, '×'));
      this.all.add(one);
      this.list.append(one.node);
      if (this.all.size > most) this.fails(one, `A message has at most ${most} files.`);
      else if (file.size > this.largest) this.fails(one, `It is too large: a file may have ${sized(this.largest)}.`);
      else this.upload(one);
    }
    this.changed();
  }

  upload(one) {
    const request = new XMLHttpRequest(); // fetch does not tell how much has been sent
    one.stop = () => request.abort();
    request.open('POST', `${address}?${new URLSearchParams({ filename: one.file.name || 'file' })}`);
    for (const [name, value] of Object.entries(as)) request.setRequestHeader(name, value);
    request.setRequestHeader('Content-Type', one.file.type || 'application/octet-stream');
    request.responseType = 'json';
    request.upload.addEventListener('progress', ({ loaded, total }) => {
      one.told.textContent = loaded < total ? `${Math.round(loaded / total * 100)} %` : '…';
    });
    request.addEventListener('error', () => this.fails(one, 'There is no connection. Remove it, and add it again.'));
    request.addEventListener('load', () => {
      one.asset = request.status === 200 && request.response?.asset_id;
      if (!one.asset) {
        this.fails(one, request.response?.response?.error?.message ?? 'It was refused on its way to gatehouse.');
        return;
      }
      one.told.textContent = '';
      one.node.classList.add('there');
      this.changed();
    });
    request.send(one.file);
  }

  fails(one, why) {
    one.fault = true;
    one.told.textContent = why;
    one.node.classList.add('failed');
    this.changed();
  }

  remove(one) {
    one.stop?.();
    this.all.delete(one);
    one.node.remove();
    this.changed();
  }

  clear() { [...this.all].forEach((one) => this.remove(one)); }
}

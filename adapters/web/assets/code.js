// Code in replies: a button that copies it, and colours. Its text is not touched: what is coloured is marked in it (the
// CSS Custom Highlight API; a browser without it shows plain code), once it comes into view.
import { el } from './dom.js';

const longest = 20000; // characters of code that is coloured
const words = 'abstract and as async await begin bool break case catch char class const continue def default defer del do '
  + 'double elif else end enum except export extends fallthrough false final finally float fn for foreach from func function '
  + 'go goto if impl implements import in instanceof int interface is lambda let long match mod module mut namespace new '
  + 'nil none not null or package pass print private protected pub public raise range readonly return select self static '
  + 'string struct super switch then this throw trait true try type typeof undefined union use using var void when where '
  + 'while with yield create table insert into values update set delete join left right inner on group order by limit';
const known = new Set(words.split(' '));
const string = String.raw`"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'`;
const rest = String.raw`\b\d[\w.]*|[A-Za-z_]\w*`;

// A language is what begins a comment in it. Others are not coloured.
const slashes = String.raw`//.*|/\*[^]*?(?:\*/|$)`;
const hash = '(?<![^\\s])#.*';
const comments = {
  c: slashes, cpp: slashes, cs: slashes, csharp: slashes, css: slashes, go: slashes, golang: slashes, java: slashes,
  javascript: slashes, js: slashes, jsx: slashes, kotlin: slashes, php: slashes, rust: slashes, rs: slashes, scala: slashes,
  swift: slashes, ts: slashes, tsx: slashes, typescript: slashes, json: '(?!)',
  bash: hash, sh: hash, shell: hash, zsh: hash, python: hash, py: hash, ruby: hash, rb: hash, toml: hash, yaml: hash,
  yml: hash, dockerfile: hash, hcl: hash, sql: '--.*', lua: '--.*', haskell: '--.*',
};

// parts finds what has a colour: [kind, from, to].
function* parts(lang, text) {
  const backtick = /^(go|golang|js|jsx|javascript|ts|tsx|typescript)$/.test(lang) ? '|`[^`]*`' : '';
  const all = new RegExp(`(?<comment>${comments[lang]})|(?<string>${string}${backtick})|${rest}`, 'g');
  for (const m of text.matchAll(all)) {
    const [word] = m;
    const kind = (m.groups.comment && 'comment') || (m.groups.string && 'string') || (/^\d/.test(word) && 'number')
      || (known.has(lang === 'sql' ? word.toLowerCase() : word) && 'word');
    if (kind) yield [kind, m.index, m.index + word.length];
  }
}

function colour(block) {
  const node = block.querySelector('code').firstChild;
  const lang = block.dataset.lang?.toLowerCase();
  if (!node || !Object.hasOwn(comments, lang) || node.length > longest) return;
  for (const [kind, from, to] of parts(lang, node.data)) {
    const name = `code-${kind}`;
    if (!CSS.highlights.has(name)) CSS.highlights.set(name, new Highlight());
    const range = new StaticRange({ startContainer: node, startOffset: from, endContainer: node, endOffset: to });
    CSS.highlights.get(name).add(range);
  }
}

const seen = globalThis.CSS?.highlights && new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    seen.unobserve(target);
    colour(target);
  }
}, { rootMargin: '400px' });

// dress gives the code in an element its button and its colours. told reads a line out.
export function dress(root, told) {
  for (const block of root.querySelectorAll('.code')) {
    const button = el('button', { type: 'button', class: 'quiet copy', 'aria-label': 'Copy the code' },
      el('span', { class: 'icon copy', 'aria-hidden': 'true' }), el('span', {}, 'Copy'));
    button.addEventListener('click', () => copy(block, button, told));
    block.prepend(button);
    seen?.observe(block);
  }
}

const shown = 2000; // milliseconds that a button says what became of its press

async function copy(block, button, told) {
  let said = 'Copied';
  try {
    await navigator.clipboard.writeText(block.querySelector('code').textContent);
  } catch { // not allowed, or not over TLS
    getSelection().selectAllChildren(block.querySelector('code'));
    said = document.execCommand('copy') ? said : 'Marked: copy it with your keyboard';
  }
  button.lastChild.textContent = said;
  told(said);
  setTimeout(() => { button.lastChild.textContent = 'Copy'; }, shown);
}

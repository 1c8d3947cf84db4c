// What the reader has allowed on the page of approvals: alerts, and keys. It is kept in this browser, for all its tabs.
import { at, place } from './base.js';
import { read, write } from './keep.js';

const name = (of) => `${place} ${of}`;

// switches are what is on: alert (a sound and a notification for a new approval) is off until it is switched on, keys
// (single letters on the page of approvals) are on until they are switched off.
export const switches = {
  get alert() { return read('localStorage', name('alert')) === 'on'; },
  set alert(on) { write('localStorage', name('alert'), on ? 'on' : null); },
  get keys() { return read('localStorage', name('keys')) !== 'off'; },
  set keys(on) { write('localStorage', name('keys'), on ? null : 'off'); },
};

let audio;

// ring plays two short tones, without a file. A browser plays nothing on a page that was never used.
function ring() {
  if (!globalThis.AudioContext || navigator.userActivation?.hasBeenActive === false) return;
  audio ??= new AudioContext();
  const begin = audio.currentTime + 0.02;
  [[659, begin], [880, begin + 0.14]].forEach(([frequency, from]) => {
    const tone = new OscillatorNode(audio, { frequency });
    const volume = new GainNode(audio, { gain: 0 });
    volume.gain.setValueAtTime(0, from);
    volume.gain.linearRampToValueAtTime(0.12, from + 0.02);
    volume.gain.exponentialRampToValueAtTime(0.001, from + 0.3);
    tone.connect(volume).connect(audio.destination);
    tone.start(from);
    tone.stop(from + 0.32);
  });
}

function notify(n) {
  if (globalThis.Notification?.permission !== 'granted') return;
  const text = n === 1 ? 'An approval waits for you' : `${n} approvals wait for you`;
  try {
    const told = new Notification(text, { tag: name('approvals'), renotify: true, silent: true });
    told.onclick = () => {
      focus();
      told.close();
      if (location.pathname !== at('/approvals')) location.assign(at('/approvals'));
    };
  } catch { /* a phone's browser allows it to service workers only */ }
}

const quiet = 1500; // milliseconds in which no other tab tells the same

export const alerts = {
  // one tells of a new approval, in one tab of the browser.
  one(n) {
    const tell = () => {
      ring();
      notify(n);
      return new Promise((done) => setTimeout(done, quiet));
    };
    if (!navigator.locks) tell();
    else navigator.locks.request(name('alert'), { ifAvailable: true }, (lock) => lock && tell());
  },
  ring,
  // ask asks the browser for notifications, where it has not been asked.
  ask() {
    if (globalThis.Notification?.permission === 'default') Notification.requestPermission();
  },
};

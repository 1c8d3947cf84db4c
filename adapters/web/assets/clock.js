// The server's time: a browser's clock may be a day off. The page says what time it was when it was made, and each beat
// of the stream what time it is.

let ahead = Date.parse(document.body.dataset.now); // of the server's clock before the browser's monotonic one

// heard takes what a beat says.
export function heard(at) {
  const moment = Date.parse(at);
  if (!Number.isNaN(moment)) ahead = moment - performance.now();
}

// now is the server's time, in milliseconds.
export const now = () => ahead + performance.now();

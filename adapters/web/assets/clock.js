// The server's time: a browser's clock may be a day off. Each beat of the stream says what time it is there.

let ahead = 0; // of the server's clock before the browser's monotonic one
let known = false;

// heard takes what a beat says.
export function heard(at) {
  const moment = Date.parse(at);
  if (Number.isNaN(moment)) return;
  ahead = moment - performance.now();
  known = true;
}

// now is the server's time, in milliseconds; the browser's, until a beat was heard.
export const now = () => (known ? ahead + performance.now() : Date.now());

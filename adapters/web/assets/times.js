// How long the page waits, in milliseconds: here and nowhere else. A page's globalThis.gatehouseTimes, set before the
// scripts run, has others; so a test need not wait for two minutes.

export const times = {
  beat: 15000, // between the beats of a stream
  silence: 45000, // without anything, after which a stream counts as dead
  first: 10000, // until the first byte of a stream, or a whole answer of a poll
  poll: 5000, // that a poll waits for news
  retry: 30000, // of polling, after which a stream is tried again; then twice as long, ten times at most
  post: 35000, // of one request
  patience: 120000, // of trying again by itself
  press: 60000, // of trying a decision again: it is not sent long after it was made
  unit: 1000, // the first pause before another try
  ...globalThis.gatehouseTimes,
};

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// backoff is how long to wait before try n, from 0: 1 s, 2 s, 4 s … 30 s, and up to a quarter more.
export const backoff = (n, t = times) => t.unit * Math.min(30, 2 ** Math.min(n, 5)) * (1 + Math.random() / 4);

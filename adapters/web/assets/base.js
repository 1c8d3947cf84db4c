// Where gatehouse is: at the root of its host, or under a path that a proxy has it at. This script's own address tells.

// base is that path without the slash at its end: '' at the root.
const base = new URL('../..', import.meta.url).pathname.slice(0, -1);

// at is the address of a page or an endpoint of gatehouse's: at('/approvals').
export const at = (path) => base + path;

// place is what the names of kept values, locks and channels begin with, which all pages of this host share.
export const place = `gatehouse${base}`;

// The shared worker: one hub for all tabs.
import { Hub } from './hub.js';

const hub = new Hub();

addEventListener('connect', ({ ports: [port] }) => {
  const tell = (message) => port.postMessage(message);
  port.onmessage = (e) => hub.take(tell, e.data);
});

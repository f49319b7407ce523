import { defaultWindow, ourWindow, settingsFrame, windowUpdateFrame } from "../frames/frames.js";
import type { ConnectionLimits } from "./connection-host.js";

const greetings = new WeakMap<ConnectionLimits, Buffer>();

/**
 * A server's first frames (RFC 9113, 3.4): its settings and its window. The same bytes for all connections with these
 * limits.
 */
export function greetingOf(limits: ConnectionLimits): Buffer {
  let greeting = greetings.get(limits);
  if (greeting === undefined) {
    const settings = settingsFrame(limits.streams, ourWindow, limits.headerBytes);
    greeting = Buffer.concat([settings, windowUpdateFrame(0, ourWindow - defaultWindow)]);
    greetings.set(limits, greeting);
  }
  return greeting;
}

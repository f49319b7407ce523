import type { Writable } from "node:stream";

/** Bytes that may wait. A number of its own: for the start of the command, no other package is loaded. */
const maxWaiting = 4 * 1024 * 1024;

/**
 * Writes lines to a stream while at most 4 MiB wait there; further lines are dropped. Once the waiting lines are
 * written, `say` makes a line that tells how many were dropped.
 */
export function boundedOutput(stream: Writable, say: (dropped: number) => string): (text: string) => void {
  let dropped = 0;
  const reportDropped = () => {
    const line = say(dropped);
    dropped = 0;
    stream.write(line);
  };
  return (text) => {
    if (stream.writableLength < maxWaiting) {
      stream.write(text);
      return;
    }
    dropped += 1;
    if (dropped === 1) stream.once("drain", reportDropped);
  };
}

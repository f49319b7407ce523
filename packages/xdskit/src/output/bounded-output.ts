import type { Writable } from "node:stream";

/** Bytes that may wait for whoever reads, so that one who stopped to read cannot take all memory. */
const mostWaiting = 4 * 1024 * 1024;

/**
 * Writes lines to a stream while no more than 4 MiB wait there; further ones are dropped. Once all that waited was written, `say` makes the line that tells how
 * many were dropped.
 */
export function boundedOutput(stream: Writable, say: (dropped: number) => string): (text: string) => void {
  let dropped = 0;
  const told = () => {
    const line = say(dropped);
    dropped = 0;
    stream.write(line);
  };
  return (text) => {
    if (stream.writableLength < mostWaiting) {
      stream.write(text);
      return;
    }
    dropped += 1;
    if (dropped === 1) stream.once("drain", told);
  };
}

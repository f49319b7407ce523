import type { Socket } from "node:net";
import type { Written } from "../connection/output.js";

/** Writes to a socket, in one call to the kernel as far as that takes it. */
export function writeToSocket(socket: Socket, chunks: readonly Buffer[]): Written {
  let hasRoom = true;
  if (chunks.length === 1) hasRoom = socket.write(chunks[0] as Buffer);
  else {
    socket.cork();
    for (const chunk of chunks) hasRoom = socket.write(chunk);
    socket.uncork();
  }
  // What the kernel took at once does not count any more, though `write` reports by the size alone that it was too
  // much.
  if (socket.writableLength === 0) return "gone";
  return hasRoom ? "kept" : "full";
}

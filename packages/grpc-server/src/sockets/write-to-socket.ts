import type { Socket } from "node:net";
import type { Written } from "../connection/output.js";

/** Writes to a socket, in one call to the kernel if that takes everything. */
export function writeToSocket(socket: Socket, chunks: readonly Buffer[]): Written {
  let hasRoom = true;
  if (chunks.length === 1) hasRoom = socket.write(chunks[0] as Buffer);
  else {
    socket.cork();
    for (const chunk of chunks) hasRoom = socket.write(chunk);
    socket.uncork();
  }
  // Bytes that the kernel took at once no longer count, though `write` reports by the size alone that they were too
  // many.
  if (socket.writableLength === 0) return "gone";
  return hasRoom ? "kept" : "full";
}

import type { Socket } from "node:net";

/** The kind of a connection's end: its peer sends no more, or it is gone altogether. */
export type SocketEnd = "input" | "broken";

/**
 * Hides from Node that a socket's peer sends no more, or that the connection broke, and reports each once to a
 * listener. The listener releases the socket when there is time, by `destroy()`. If something must still be written, it
 * calls the returned function, by which Node learns of the end of input, and then `end()`. When a fleet is cut,
 * thousands of sockets end in one turn of the event loop, and Node's work for each (events, a stack for the error,
 * closing) could not be put off.
 *
 * It relies on Node's way to report an end: Node calls the socket's `push(null)`, and `destroy` with an error. Both are
 * public, but Node's calls to them are not documented. Fallback: if it does not, its own events come at once. `end` is
 * reported here as well, and after `close` nothing is left to do.
 */
export function tellEnd(socket: Socket, ended: (end: SocketEnd) => void): () => void {
  const { push, destroy } = socket;
  let reported: SocketEnd | undefined;
  function tell(end: SocketEnd): void {
    // A broken connection has ended too.
    if (reported === end || reported === "broken") return;
    reported = end;
    ended(end);
  }
  socket.push = (chunk, encoding) => {
    if (chunk !== null) return push.call(socket, chunk, encoding);
    tell("input");
    return false;
  };
  socket.destroy = (error) => {
    // Without an error the program itself destroys the socket, on purpose.
    if (error === undefined || error === null) return destroy.call(socket);
    tell("broken");
    return socket;
  };
  socket.once("end", () => tell("input"));
  return () => {
    push.call(socket, null);
    // As Node does: it emits "end" even if nothing was read before.
    socket.read(0);
  };
}

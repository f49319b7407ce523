import type { Socket } from "node:net";

/** How a connection ended: its peer sends no more, or it is gone altogether. */
export type SocketEnd = "input" | "broken";

/**
 * Keeps from Node that a socket's peer sends no more, or that the connection broke, and tells of it instead, of each once: whoever hears it lets go of the socket when
 * there is time, by `destroy()`; or, where something is still to be written, calls what is returned, by which Node learns of the end of input, and then
 * `end()`. All sockets that ended are told of in one turn of the event loop, thousands where a fleet is cut, and what Node does for each at once (events, a stack
 * for the error, closing) nobody could put off.
 *
 * Both ways by which Node learns of an end are public: `push(null)`, and `destroy` with an error. Without an error it is meant at once, as ever.
 */
export function tellEnd(socket: Socket, ended: (end: SocketEnd) => void): () => void {
  const { push, destroy } = socket;
  let told: SocketEnd | undefined;
  function tell(end: SocketEnd): void {
    // What broke has ended, too.
    if (told === end || told === "broken") return;
    told = end;
    ended(end);
  }
  socket.push = (chunk, encoding) => {
    if (chunk !== null) return push.call(socket, chunk, encoding);
    tell("input");
    return false;
  };
  socket.destroy = (error) => {
    if (error === undefined || error === null) return destroy.call(socket);
    tell("broken");
    return socket;
  };
  return () => {
    push.call(socket, null);
    // As Node does: it emits "end" where nothing was read before it, too.
    socket.read(0);
  };
}

import type { Socket } from "node:net";

/** The kind of a connection's end: its peer sends no more, or it is gone altogether. */
export type SocketEnd = "input" | "broken";

/** Hears of the end of a socket. */
type SocketEndListener = (socket: Socket, end: SocketEnd) => void;

/** What is kept of a socket: its own functions, who hears of its end, and what was reported. */
interface Told {
  readonly push: Socket["push"];
  readonly destroy: Socket["destroy"];
  readonly ended: SocketEndListener;
  reported: SocketEnd | undefined;
}

const toldOf = Symbol("told of its end");

type FollowedSocket = Socket & { [toldOf]: Told };

/**
 * Hides from Node that a socket's peer sends no more, or that the connection broke, and reports each once to a
 * listener. The listener releases the socket when there is time, by `destroy()`. If something must still be written, it
 * calls `endReading`, by which Node learns of the end of input, and then `end()`. When a fleet is cut, thousands of
 * sockets end in one turn of the event loop, and Node's work for each (events, a stack for the error, closing) could
 * not be put off.
 *
 * It relies on Node's way to report an end: Node calls the socket's `push(null)`, and `destroy` with an error. Both are
 * public, but Node's calls to them are not documented. Fallback: if it does not, its own events come at once. `end` is
 * reported here as well, and after `close` nothing is left to do.
 */
export function tellEnd(socket: Socket, ended: SocketEndListener): void {
  const { push, destroy } = socket;
  (socket as FollowedSocket)[toldOf] = { push, destroy, ended, reported: undefined };
  socket.push = pushOrTell;
  socket.destroy = destroyOrTell;
  socket.on("end", tellInput);
}

/** Tells Node that the peer of a socket, whose end was told of, sends no more. */
export function endReading(socket: Socket): void {
  (socket as FollowedSocket)[toldOf].push.call(socket, null);
  // As Node does: it emits "end" even if nothing was read before.
  socket.read(0);
}

function tell(socket: FollowedSocket, end: SocketEnd): void {
  const told = socket[toldOf];
  // A broken connection has ended too.
  if (told.reported === end || told.reported === "broken") return;
  told.reported = end;
  told.ended(socket, end);
}

function pushOrTell(this: FollowedSocket, ...[chunk, encoding]: Parameters<Socket["push"]>): boolean {
  if (chunk !== null) return this[toldOf].push.call(this, chunk, encoding);
  tell(this, "input");
  return false;
}

function destroyOrTell(this: FollowedSocket, error?: Error): FollowedSocket {
  // Without an error the program itself destroys the socket, on purpose.
  if (error === undefined || error === null) this[toldOf].destroy.call(this);
  else tell(this, "broken");
  return this;
}

function tellInput(this: FollowedSocket): void {
  tell(this, "input");
}

import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";
import { Slab } from "../connection/output.js";
import { encodeHeaders } from "../hpack/header-encoder.js";
import { createSharedReads } from "../node-internals/shared-reads.js";
import { handshakeMs } from "../sockets/handshakes.js";
import { defaultKeepalive } from "../sockets/keepalive.js";
import { ServedSocket } from "../sockets/served-socket.js";
import { createTurnBudget } from "../sockets/turn-budget.js";
import { Patience } from "../timing/patience.js";

const head = encodeHeaders([
  [":status", "200"],
  ["content-type", "text/plain"],
]);
const trailers = encodeHeaders([["x-done", "yes"]]);

/**
 * The server without gRPC: it answers each request once that is whole, whatever its method and path. gRPC refuses
 * h2spec's requests, and ends the stream at once, before h2spec could send the frames that are forbidden on an open
 * stream.
 */
export function createPlainHttp2Server(tls?: TlsOptions): Server {
  const context = {
    slab: new Slab(),
    now: () => performance.now(),
    keepalive: defaultKeepalive,
    limits: { streams: 100, headerBytes: 32 * 1024 },
    budget: createTurnBudget(),
    readShared: createSharedReads(),
    handshakes: new Patience(handshakeMs, () => performance.now()),
    isClosing: () => false,
  };
  const serve = (socket: Socket): void => {
    new ServedSocket(socket, context, {
      certificateEnds: undefined,
      accept: (_request, stream) => ({
        data() {},
        ended() {
          stream.respond(head);
          stream.send(Buffer.from("hello"));
          stream.end(trailers);
        },
        drained() {},
        stopped() {},
        closed() {},
      }),
      failed(error) {
        throw error;
      },
      closed() {},
      released() {},
    }).listen();
  };
  return tls === undefined ? createServer(serve) : createTlsServer({ ALPNProtocols: ["h2"], ...tls }, serve);
}

import type { MemoryTransport } from "@xdskit/server";
import type { StreamTransport } from "../upstreams/grpc/stream-transport.js";

/** Streams to a server in the same process, over its in-memory transport. */
export function memoryStreamTransport(transport: MemoryTransport, address: string): StreamTransport {
  return {
    open(method, handler) {
      const received: Uint8Array[] = [];
      let wanted = 0;
      let over = false;
      const serve = () => {
        while (wanted > 0 && !over) {
          const next = received.shift();
          if (next === undefined) return stream.resume();
          wanted -= 1;
          handler.received(next);
        }
      };
      const stream = transport.open(address, { ...method, unary: false }, (bytes) => {
        received.push(bytes);
        stream.pause();
        serve();
      });
      const end = (code: number, message: string) => {
        if (over) return;
        over = true;
        handler.ended(code, message);
      };
      void stream.status.then(({ code, message }) => end(code, message));
      // A server that is cut off says nothing.
      void stream.over.then(() => end(14, "the connection is gone"));
      queueMicrotask(() => {
        if (!over) handler.opened();
      });
      return {
        send(bytes, sent) {
          stream.send(bytes);
          queueMicrotask(sent);
        },
        read() {
          wanted += 1;
          serve();
        },
        finish: () => stream.finish(),
        cancel(code, message) {
          stream.cancel();
          queueMicrotask(() => end(code, message));
        },
      };
    },
    close() {},
  };
}

import { Client, credentials, status as grpcStatus, type ServiceError } from "@grpc/grpc-js";
import type { ResourceTypes } from "@xdskit/api";
import type { Method } from "../transport.js";
import { discoveryMethods } from "../transports/grpc/methods.js";
import type { MemoryTransport } from "../transports/memory/memory-transport.js";

/** A client that knows nothing of xDS: bytes out, bytes in. */
export interface RawStream {
  send(bytes: Uint8Array): void;
  /** Half-closes. */
  finish(): void;
  /** Goes away without a word. */
  cancel(): void;
  /** Takes no more responses until `resume`. */
  pause(): void;
  resume(): void;
  /** What came, in order. */
  readonly responses: readonly Uint8Array[];
  /** How the server ended the stream. */
  readonly status: Promise<{ readonly code: number; readonly message: string }>;
}

/** Opens streams to a server; `close` gives back what it holds. */
export interface RawClient {
  open(method: Method): RawStream;
  close(): void;
}

/** A client over the in-memory transport. */
export function memoryClient(transport: MemoryTransport, address: string): RawClient {
  const open = new Set<{ cancel(): void }>();
  return {
    open(method) {
      const responses: Uint8Array[] = [];
      const stream = transport.open(address, method, (message) => responses.push(message));
      open.add(stream);
      return { ...stream, responses };
    },
    close() {
      for (const stream of open) stream.cancel();
    },
  };
}

/** A client over gRPC: one connection of gRPC's own Node client. */
export function grpcClient(types: ResourceTypes, address: string): RawClient {
  // A pool of its own: tests cut connections, which others must not share.
  const client = new Client(address, credentials.createInsecure(), {
    "grpc.use_local_subchannel_pool": 1,
    "grpc.max_receive_message_length": -1,
  });
  const path = (method: Method) => {
    for (const [service, methods] of discoveryMethods(types)) {
      for (const [name, each] of methods) {
        const same =
          each.variant === method.variant &&
          each.api === method.api &&
          each.only === method.only &&
          each.unary === method.unary;
        if (same) return `/${service}/${name}`;
      }
    }
    throw new Error("there is no such method");
  };
  const asIs = (bytes: Buffer) => bytes;
  const calls = new Set<{ cancel(): void }>();
  return {
    open(method) {
      return method.unary ? openUnary(path(method)) : openStream(path(method));
    },
    close() {
      for (const call of calls) call.cancel();
      client.close();
    },
  };

  function openStream(at: string): RawStream {
    const call = client.makeBidiStreamRequest(at, asIs, asIs);
    calls.add(call);
    const responses: Uint8Array[] = [];
    const status = new Promise<{ code: number; message: string }>((resolve) => {
      call.on("status", ({ code, details }) => resolve({ code, message: details }));
    });
    call.on("data", (bytes: Buffer) => responses.push(bytes));
    call.on("error", () => {});
    return {
      send: (bytes) => void call.write(Buffer.from(bytes)),
      finish: () => void call.end(),
      cancel: () => call.cancel(),
      pause: () => void call.pause(),
      resume: () => void call.resume(),
      responses,
      status,
    };
  }

  function openUnary(at: string): RawStream {
    const responses: Uint8Array[] = [];
    let settle: (status: { code: number; message: string }) => void = () => {};
    const status = new Promise<{ code: number; message: string }>((resolve) => {
      settle = resolve;
    });
    let cancel = () => {};
    return {
      send(bytes) {
        const call = client.makeUnaryRequest(
          at,
          asIs,
          asIs,
          Buffer.from(bytes),
          (error: ServiceError | null, response?: Buffer) => {
            if (response !== undefined) responses.push(response);
            settle({ code: error?.code ?? grpcStatus.OK, message: error?.details ?? "" });
          },
        );
        calls.add(call);
        cancel = () => call.cancel();
      },
      finish() {},
      cancel: () => cancel(),
      pause() {},
      resume() {},
      responses,
      status,
    };
  }
}

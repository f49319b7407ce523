import type { ResourceTypes } from "@xdskit/api";
import type { Method } from "../../contracts/transport.js";
import { discoveryMethods } from "../../transports/discovery-methods.js";
import type { MemoryTransport } from "../../transports/memory/memory-transport.js";
import { type ServiceCall, serviceClient } from "./service-client.js";

/** A client that knows nothing of xDS: bytes out, bytes in. */
export type RawStream = Omit<ServiceCall, "next">;

/** Opens streams to a server; `close` releases its resources. */
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

/** A client over gRPC: one connection of gRPC's own Node client. A unary call is one `send`. */
export function grpcClient(types: ResourceTypes, address: string): RawClient {
  const client = serviceClient(address);
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
  return {
    open(method) {
      const call = client.call(path(method));
      if (!method.unary) return call;
      const send = (bytes: Uint8Array) => {
        call.send(bytes);
        call.finish();
      };
      return { ...call, send };
    },
    close: client.close,
  };
}

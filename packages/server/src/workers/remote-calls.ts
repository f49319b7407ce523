import type { ResourceTypes } from "@xdskit/api";
import { statusCode } from "@xdskit/protocol";
import type { Accept, Call, CallHandler, DiscoveryCall, Method, Refusal, Service } from "../contracts/transport.js";
import { discoveryMethods } from "../transports/discovery-methods.js";
import type { CallPart, FromWorker, ToWorker } from "./messages.js";

/** The calls of one worker that are answered here. */
export interface RemoteCalls {
  opened(message: Extract<FromWorker, { readonly kind: "called" }>): void;
  part(message: CallPart): void;
  /** The worker is gone. */
  close(): void;
}

interface Remote {
  readonly call: Call;
  readonly handler: CallHandler;
  /** False while its client takes no more. */
  room: boolean;
}

/** Unary discovery goes to `accept`, all else to the services. */
export function createRemoteCalls(
  types: ResourceTypes,
  accept: Accept,
  services: readonly Service[],
  post: (message: ToWorker) => void,
): RemoteCalls {
  const calls = new Map<number, Remote>();
  const discovery = discoveryMethods(types);
  const byName = new Map(services.map((service) => [service.name, service]));

  function answered(service: string, name: string, call: Call): CallHandler | Refusal {
    const method: Method | undefined = discovery.get(service)?.get(name);
    if (method !== undefined) return accept({ ...call, method } satisfies DiscoveryCall);
    const found = byName.get(service)?.methods[name];
    return found?.accept(call) ?? { code: statusCode.unimplemented, message: "there is no such method" };
  }

  return {
    opened({ call: id, path, peer }) {
      const remote = { room: true };
      let isEnded = false;
      const call: Call = {
        peer,
        send(body, tail) {
          const bytes = new Uint8Array(body.byteLength + tail.byteLength);
          bytes.set(body);
          bytes.set(tail, body.byteLength);
          post({ kind: "send", call: id, bytes });
          return remote.room;
        },
        end(code, message) {
          if (isEnded) return;
          isEnded = true;
          post({ kind: "end-call", call: id, code, message });
        },
      };
      const handler = answered(path[0], path[1], call);
      if ("code" in handler) call.end(handler.code, handler.message);
      else calls.set(id, Object.assign(remote, { call, handler }));
    },
    part(message) {
      const remote = calls.get(message.call);
      if (remote === undefined) return;
      switch (message.kind) {
        case "received":
          remote.handler.received(message.bytes);
          break;
        case "full":
          remote.room = false;
          break;
        case "drained":
          remote.room = true;
          remote.handler.drained();
          break;
        case "finished":
          remote.handler.finished();
          break;
        case "closed":
          calls.delete(message.call);
          remote.handler.closed();
          // A worker counts a call as under way until it hears of its end.
          remote.call.end(statusCode.ok, "");
          break;
        default:
          message satisfies never;
      }
    },
    close() {
      const open = [...calls.values()];
      calls.clear();
      for (const { handler } of open) handler.closed();
    },
  };
}

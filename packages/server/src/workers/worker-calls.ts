import type { Call, ConnectionHandler, Service, ServiceHandler } from "../transport.js";
import type { FromWorker, ToWorker, WorkerSettings } from "./messages.js";

/** Calls that the main thread answers: of other services than discovery, and unary ones. Only bytes go through here. */
export interface WorkerCalls {
  readonly services: readonly Service[];
  open(path: readonly [service: string, method: string], call: Call): ServiceHandler;
  answer(message: Extract<ToWorker, { readonly kind: "send" | "end-call" }>): void;
}

export function createWorkerCalls(
  settings: Pick<WorkerSettings, "services">,
  nextId: () => number,
  tell: (message: FromWorker) => void,
): WorkerCalls {
  const calls = new Map<number, Call>();

  function open(path: readonly [service: string, method: string], call: Call): ServiceHandler {
    const id = nextId();
    calls.set(id, call);
    tell({ kind: "called", call: id, path, peer: call.peer });
    const handler: ConnectionHandler = {
      // Copied: what is posted takes the whole of the memory that it lies in along.
      received: (bytes) => tell({ kind: "received", call: id, bytes: new Uint8Array(bytes) }),
      drained: () => tell({ kind: "drained", call: id }),
      finished: () => tell({ kind: "finished", call: id }),
      closed() {
        calls.delete(id);
        tell({ kind: "closed", call: id });
      },
    };
    return { ...handler, stop() {} };
  }

  return {
    open,
    services: settings.services.map(({ name, methods }) => ({
      name,
      methods: Object.fromEntries(
        methods.map((method) => [
          method.name,
          { unary: method.unary, accept: (call: Call) => open([name, method.name], call) },
        ]),
      ),
    })),
    answer(message) {
      const call = calls.get(message.call);
      if (call === undefined) return;
      if (message.kind === "end-call") call.end(message.code, message.message);
      else if (!call.send(message.bytes, nothing)) tell({ kind: "full", call: message.call });
    },
  };
}

const nothing = new Uint8Array();

import { statusCode } from "@xdskit/protocol";
import type { Call, CallHandler, Refusal, Service, ServiceHandler } from "../contracts/transport.js";
import type { CallTurn, CallTurns } from "./call-turns.js";
import type { FromWorker, ToWorker, WorkerSettings } from "./messages.js";

/** Calls that the main thread answers: of other services than discovery, and unary ones. Only bytes go through here. */
export interface WorkerCalls {
  readonly services: readonly Service[];
  /** A unary call. */
  openUnary(path: CallPath, call: Call): ServiceHandler;
  answer(message: Extract<ToWorker, { readonly kind: "send" | "end-call" }>): void;
}

type CallPath = readonly [service: string, method: string];

interface WorkerCallsContext {
  readonly services: WorkerSettings["services"];
  readonly turns: CallTurns;
  nextId(): number;
  tell(message: FromWorker): void;
  /** A call was refused here; the main thread does not hear of it. */
  refused(path: CallPath, call: Call, refusal: Refusal): void;
}

export function createWorkerCalls({ services, turns, nextId, tell, refused }: WorkerCallsContext): WorkerCalls {
  const calls = new Map<number, Call>();
  /** Unary calls that the main thread has not answered yet, with the bytes that it sent so far. */
  const unanswered = new Map<number, { readonly turn: () => CallTurn | undefined; bytes: number }>();

  function begin(path: CallPath, call: Call): number {
    const id = nextId();
    calls.set(id, call);
    tell({ kind: "called", call: id, path, peer: call.peer });
    return id;
  }

  function closed(id: number): void {
    calls.delete(id);
    tell({ kind: "closed", call: id });
  }

  function open(path: CallPath, call: Call): ServiceHandler {
    const id = begin(path, call);
    const handler: CallHandler = {
      // Copied: what is posted takes the whole of the memory that it lies in along.
      received: (bytes) => tell({ kind: "received", call: id, bytes: new Uint8Array(bytes) }),
      drained: () => tell({ kind: "drained", call: id }),
      finished: () => tell({ kind: "finished", call: id }),
      closed: () => closed(id),
    };
    return { ...handler, stop() {} };
  }

  /** The main thread hears of a unary call once its request is whole, and once it is its turn. */
  function openUnary(path: CallPath, call: Call): ServiceHandler {
    let id: number | undefined;
    let turn: CallTurn | undefined;
    return {
      received(bytes) {
        const request = new Uint8Array(bytes);
        turn = turns.enter(call.peer, request.byteLength, () => {
          id = begin(path, call);
          unanswered.set(id, { turn: () => turn, bytes: 0 });
          tell({ kind: "received", call: id, bytes: request });
          tell({ kind: "finished", call: id });
        });
        if (turn !== undefined) return;
        refused(path, call, tooMany);
        call.end(tooMany.code, tooMany.message);
      },
      drained() {},
      finished() {},
      closed() {
        turn?.closed();
        if (id !== undefined) closed(id);
      },
      stop() {},
    };
  }

  function answered(id: number): void {
    const waiting = unanswered.get(id);
    if (waiting === undefined) return;
    unanswered.delete(id);
    waiting.turn()?.answered(waiting.bytes);
  }

  return {
    openUnary,
    services: services.map(({ name, methods }) => ({
      name,
      methods: Object.fromEntries(
        methods.map((method) => [
          method.name,
          {
            unary: method.unary,
            accept: (call: Call) => (method.unary ? openUnary : open)([name, method.name], call),
          },
        ]),
      ),
    })),
    answer(message) {
      const call = calls.get(message.call);
      if (message.kind === "end-call") {
        call?.end(message.code, message.message);
        answered(message.call);
        return;
      }
      const hasRoom = call?.send(message.bytes, nothing);
      const waiting = unanswered.get(message.call);
      if (waiting !== undefined) waiting.bytes += message.bytes.byteLength;
      else if (hasRoom === false) tell({ kind: "full", call: message.call });
    },
  };
}

const nothing = new Uint8Array();
const tooMany: Refusal = {
  code: statusCode.resourceExhausted,
  message: "too many unary calls wait for an answer; ask again later, or over a stream",
};

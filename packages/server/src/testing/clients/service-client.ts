import { Client, credentials } from "@grpc/grpc-js";
import { waitFor } from "../basics/wait-for.js";

/** A call of any method, in bytes. */
export interface ServiceCall {
  send(bytes: Uint8Array): void;
  /** Half-closes. */
  finish(): void;
  /** Disconnects without a message. */
  cancel(): void;
  /** Takes no more responses until `resume`. */
  pause(): void;
  resume(): void;
  /** The received responses, in order. */
  readonly responses: readonly Uint8Array[];
  /** The next response that was not yet taken. */
  next(): Promise<Uint8Array>;
  /** The status with which the server ended it. */
  readonly status: Promise<{ readonly code: number; readonly message: string }>;
}

/** Calls methods by their path; unary ones too, which to the wire are streams of one message. */
export function serviceClient(address: string): { call(path: string): ServiceCall; close(): void } {
  // A pool of its own: tests cut connections, which others must not share.
  const client = new Client(address, credentials.createInsecure(), {
    "grpc.use_local_subchannel_pool": 1,
    "grpc.max_receive_message_length": -1,
  });
  const asIs = (bytes: Buffer) => bytes;
  const calls: ServiceCall[] = [];
  return {
    call(path) {
      const call = client.makeBidiStreamRequest(path, asIs, asIs);
      const responses: Uint8Array[] = [];
      let taken = 0;
      call.on("data", (bytes: Buffer) => responses.push(bytes));
      call.on("error", () => {});
      const made: ServiceCall = {
        send: (bytes) => void call.write(Buffer.from(bytes)),
        finish: () => void call.end(),
        cancel: () => call.cancel(),
        pause: () => void call.pause(),
        resume: () => void call.resume(),
        responses,
        async next() {
          taken += 1;
          await waitFor(`response ${taken} of ${path}`, () => responses.length >= taken);
          return responses[taken - 1] ?? new Uint8Array();
        },
        status: new Promise((resolve) => {
          call.on("status", ({ code, details }) => resolve({ code, message: details }));
        }),
      };
      calls.push(made);
      return made;
    },
    close() {
      for (const call of calls) call.cancel();
      client.close();
    },
  };
}

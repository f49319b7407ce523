import { maxFindings } from "@xdskit/api";
import { grpcStatusName } from "@xdskit/grpc-server/messages";
import type { CrowdRequest, CrowdResponse } from "../crowd/crowd-client.js";
import { Changes } from "./changes.js";
import { Values } from "./spread.js";
import type { GrpcStatus } from "./stream-status.js";

/** A kind of error, and how often it came. */
export interface ErrorReport {
  /** gRPC's name of the status. */
  readonly status: string;
  readonly message: string;
  readonly count: number;
}

/** All counts, of all nodes together. */
export class Tally {
  /** `again`: unchanged resources that came to clients which had claimed them. */
  readonly received = { bytes: 0, messages: 0, resources: 0, removed: 0, again: 0 };
  readonly sent = { bytes: 0, messages: 0, acknowledgements: 0, rejections: 0 };
  readonly streams = { opened: 0, failed: 0, refused: 0, ended: 0 };
  readonly connections = { opened: 0, failed: 0 };
  readonly changes = new Changes();
  readonly #errors = new Map<string, { readonly status: string; readonly message: string; count: number }>();

  /** `bytes`: of the message, with gRPC's header. */
  response(bytes: number, { resources, removed }: CrowdResponse): void {
    this.received.bytes += bytes;
    this.received.messages++;
    this.received.resources += resources;
    this.received.removed += removed;
  }

  request(bytes: number, kind: CrowdRequest["kind"]): void {
    this.sent.bytes += bytes;
    this.sent.messages++;
    if (kind === "ack") this.sent.acknowledgements++;
    else if (kind === "nack") this.sent.rejections++;
  }

  /** A stream that the fleet did not close. */
  streamEnded(status: GrpcStatus, wasAnswered: boolean): void {
    if (status.code === 0) {
      this.streams.ended++;
      return;
    }
    this.streams.failed++;
    if (!wasAnswered) this.streams.refused++;
    this.error(status);
  }

  error({ code, message }: GrpcStatus): void {
    const status = grpcStatusName(code);
    // Servers put numbers into texts.
    const full = this.#errors.size >= maxFindings;
    const key = `${status} ${message}`;
    const known = this.#errors.get(key) ?? (full ? this.#errors.get(`${status} …`) : undefined);
    if (known !== undefined) known.count++;
    else if (full) this.#errors.set(`${status} …`, { status, message: "…", count: 1 });
    else this.#errors.set(key, { status, message, count: 1 });
  }

  /** The most frequent first. */
  errors(): readonly ErrorReport[] {
    return [...this.#errors.values()].sort((a, b) => b.count - a.count);
  }
}

/** Times of nodes, in milliseconds. */
export class Times {
  /** From the first attempt to connect until the server answered. */
  readonly connect = new Values();
  /** From the start of the run until a node had everything, and from its own first attempt. */
  readonly sinceStart = new Values();
  readonly sinceDial = new Values();
  /** For reconnecting nodes: until the server answered. */
  readonly reconnect = new Values();
  /** From resuming to read to the first response that was waiting. */
  readonly resume = new Values();
}

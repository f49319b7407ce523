import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { envoySchema } from "@xdskit/api";
import type {
  HealthCheckRequestSchema,
  HealthCheckResponseSchema,
  HealthListResponseSchema,
} from "@xdskit/api/grpc/health/v1/health";
import { statusCode } from "@xdskit/protocol";
import type { Call, Service, ServiceHandler } from "../contracts/transport.js";

/** `grpc.health.v1.HealthCheckResponse.ServingStatus`. */
const status = { serving: 1, notServing: 2, serviceUnknown: 3 } as const;

/**
 * gRPC's health checks for the server as a whole (the empty name) and for each service; all serve when `isServing`
 * says so. gRPC's own package is not used for messages so small: it brings another reader of protos (6 MB, 60 ms at
 * each start), and its calls would neither count toward the limits nor end when the server closes.
 */
export function createHealth(options: {
  readonly isServing: () => boolean;
  /** All services of the server. */
  readonly services: () => readonly string[];
}) {
  const watchers = new Set<HealthWatcher>();
  const names = () => ["", ...options.services()];
  const statusNow = () => (options.isServing() ? status.serving : status.notServing);
  const statusOf = (name: string) => (names().includes(name) ? statusNow() : status.serviceUnknown);

  const service: Service = {
    name: "grpc.health.v1.Health",
    methods: {
      Check: {
        unary: true,
        accept: (call) =>
          answering(call, (bytes) => {
            const name = readServiceName(bytes);
            const now = statusOf(name);
            if (now !== status.serviceUnknown) return respond(call, checkResponse(now));
            call.end(statusCode.notFound, `this server has no service ${JSON.stringify(name.slice(0, 200))}`);
          }),
      },
      List: {
        unary: true,
        accept: (call) => answering(call, () => respond(call, listResponse(names(), statusNow()))),
      },
      Watch: {
        unary: false,
        accept: (call) => {
          const watcher = new HealthWatcher(call, statusOf, () => watchers.delete(watcher));
          watchers.add(watcher);
          return watcher;
        },
      },
    },
  };
  return {
    service,
    /** Checks again whether the server serves, and tells clients that watch. */
    update(): void {
      for (const watcher of watchers) watcher.tell();
    },
  };
}

/** Tells a client each change of a service's status. Unread changes are not queued: it gets the newest. */
class HealthWatcher implements ServiceHandler {
  readonly #call: Call;
  readonly #statusOf: (name: string) => number;
  readonly #gone: () => void;
  #name: string | undefined;
  #reported: number | undefined;
  #room = true;

  constructor(call: Call, statusOf: (name: string) => number, gone: () => void) {
    this.#call = call;
    this.#statusOf = statusOf;
    this.#gone = gone;
  }

  received(bytes: Uint8Array): void {
    if (this.#name !== undefined) return;
    try {
      this.#name = readServiceName(bytes);
    } catch {
      this.#call.end(statusCode.invalidArgument, malformed);
      return;
    }
    this.tell();
  }

  tell(): void {
    if (this.#name === undefined || !this.#room) return;
    const now = this.#statusOf(this.#name);
    if (now === this.#reported) return;
    this.#reported = now;
    this.#room = this.#call.send(checkResponse(now), nothing);
  }

  drained(): void {
    this.#room = true;
    this.tell();
  }

  /** The client sends only one request, and its answers come afterwards. */
  finished(): void {
    if (this.#name === undefined) this.#call.end(statusCode.invalidArgument, "there was no request");
  }

  closed(): void {
    this.#gone();
  }

  stop(): void {
    this.tell();
    this.#call.end(statusCode.ok, "");
  }
}

const nothing = new Uint8Array();
const malformed = "malformed health request";

/** The handler of a unary call. */
function answering(call: Call, answer: (bytes: Uint8Array) => void): ServiceHandler {
  return {
    received(bytes) {
      try {
        answer(bytes);
      } catch {
        call.end(statusCode.invalidArgument, malformed);
      }
    },
    drained() {},
    finished() {},
    closed() {},
    stop() {},
  };
}

function respond(call: Call, response: Uint8Array): void {
  call.send(response, nothing);
  call.end(statusCode.ok, "");
}

function readServiceName(bytes: Uint8Array): string {
  return fromBinary(envoySchema<typeof HealthCheckRequestSchema>("grpc.health.v1.HealthCheckRequest"), bytes).service;
}

function checkResponse(now: number): Uint8Array {
  const schema = envoySchema<typeof HealthCheckResponseSchema>("grpc.health.v1.HealthCheckResponse");
  return toBinary(schema, create(schema, { status: now }));
}

function listResponse(names: readonly string[], now: number): Uint8Array {
  const schema = envoySchema<typeof HealthListResponseSchema>("grpc.health.v1.HealthListResponse");
  const statuses = Object.fromEntries(names.map((name) => [name, { status: now }]));
  return toBinary(schema, create(schema, { statuses }));
}

import { type ResourceName, type ResourceType, redactErrorText, type Version, type XdskitError } from "@xdskit/api";
import type { ClientEvent } from "@xdskit/client";
import { grpcStatusName } from "@xdskit/grpc-server/messages";
import type { ReceivedResource, ResourceUpdate } from "@xdskit/protocol";

/** The events of `watch` and `get`: the rows of docs/watch.md. */
export type WatchEvent =
  | { readonly kind: "connected"; readonly server: string; readonly type: ResourceType | undefined }
  | {
      readonly kind: "disconnected";
      readonly server: string;
      readonly type: ResourceType | undefined;
      /** Undefined if the server ended it cleanly. */
      readonly error: string | undefined;
    }
  | { readonly kind: "upsert"; readonly resource: ReceivedResource }
  | { readonly kind: "delete"; readonly type: ResourceType; readonly name: ResourceName; readonly ttl: boolean }
  | {
      readonly kind: "not_found";
      readonly type: ResourceType;
      readonly name: ResourceName;
      /** No answer within 15 s, or the server reported it. */
      readonly reason: "timer" | "told";
      /** The server's text. */
      readonly message: string | undefined;
    }
  | ErrorEvent
  | { readonly kind: "switched"; readonly from: string; readonly to: string };

export interface ErrorEvent {
  readonly kind: "error";
  readonly message: string;
  /** `XDSKIT_…`, or the name of a gRPC status. */
  readonly code: string;
  readonly server: string | undefined;
  readonly type: ResourceType | undefined;
  /** The one resource of the error. */
  readonly name: ResourceName | undefined;
  /** The resources of the error, if there are several. */
  readonly names?: readonly ResourceName[] | undefined;
  /** The client rejected the response. */
  readonly nack: boolean;
  /** The version of the rejected response. */
  readonly version: Version | undefined;
}

/** Turns client events into output events. One for each client: it remembers which streams are up. */
export function createWatchEvents(options: {
  readonly secrets: boolean;
}): (event: ClientEvent) => readonly WatchEvent[] {
  const up = new Set<string>();
  /** The stream whose end was just reported as an error: the failed attempt is the same error. */
  let ended: string | undefined;
  const clean = options.secrets ? (text: string) => text : redactErrorText;
  return (event) => {
    const before = ended;
    ended = undefined;
    switch (event.kind) {
      case "connected":
        up.add(streamOf(event.server, event.type));
        return [{ kind: "connected", server: event.server, type: event.type }];
      case "disconnected": {
        const { server, type } = event;
        const error = event.error && { ...event.error, message: clean(event.error.message) };
        const events: WatchEvent[] = [];
        // A failed attempt does not end a stream.
        if (up.delete(streamOf(server, type)))
          events.push({ kind: "disconnected", server, type, error: error?.message });
        if (error !== undefined) {
          ended = streamOf(server, type);
          const code = grpcStatusName(error.code);
          events.push({ ...noError, code, message: error.message, server, type });
        }
        return events;
      }
      case "failed": {
        const { server, type, error, nack } = event;
        if (!nack && before === streamOf(server, type)) return [];
        return [
          {
            ...noError,
            code: grpcCodeOf(error) ?? error.code,
            message: clean(error.message),
            server,
            type,
            name: nameIn(error),
            nack,
          },
        ];
      }
      case "updated":
        return eventsOf(event.update, event.server, clean);
      case "rejected": {
        const { server, type, version, bad } = event;
        const code = bad[0]?.findings[0]?.code ?? "INVALID_ARGUMENT";
        const names = [...new Set(bad.map((each) => each.name).filter((each) => each !== undefined))];
        const about =
          names.length > 1 ? { names } : { name: bad.every((each) => each.name !== undefined) ? names[0] : undefined };
        return [{ ...noError, code, message: clean(event.message), server, type, ...about, nack: true, version }];
      }
      case "switched":
        return [{ kind: "switched", from: event.from, to: event.to }];
      case "responded":
      case "watcher-failed":
        return [];
    }
  };
}

/** The status with which a stream ended; undefined if it did not, or if no server was reached. */
function grpcCodeOf({ code, cause }: XdskitError): string | undefined {
  if (code !== "XDSKIT_UPSTREAM_AWAY" || typeof cause !== "object" || cause === null || !("code" in cause))
    return undefined;
  return typeof cause.code === "number" ? grpcStatusName(cause.code) : undefined;
}

const noError = {
  kind: "error",
  server: undefined,
  type: undefined,
  name: undefined,
  nack: false,
  version: undefined,
} as const;

const streamOf = (server: string, type: ResourceType | undefined) => `${server}\n${type?.typeUrl ?? ""}`;

function eventsOf(
  { type, upserted, removed, absent, failing }: ResourceUpdate,
  server: string,
  clean: (text: string) => string,
): readonly WatchEvent[] {
  return [
    ...removed.map(({ name, reason }) => ({ kind: "delete", type, name, ttl: reason === "ttl" }) as const),
    ...upserted.map((resource) => ({ kind: "upsert", resource }) as const),
    ...absent.map(({ name, reason, error }) => {
      return { kind: "not_found", type, name, reason, message: error && clean(error.message) } as const;
    }),
    ...failing.map(({ name, code, message }) => {
      return { ...noError, code: grpcStatusName(code), message: clean(message), server, type, name };
    }),
  ];
}

function nameIn(error: {
  readonly findings: readonly { readonly resource?: string | undefined }[];
}): string | undefined {
  return error.findings.length === 1 ? error.findings[0]?.resource : undefined;
}

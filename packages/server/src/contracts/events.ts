import type { ApiVersion, Finding, ResourceName, ResourceType, Version } from "@xdskit/api";
import type { ClusterLoad, Node, StatusCode, Wait } from "@xdskit/protocol";
import { callListener } from "../basics/call-listener.js";
import type { EventLoopBlock } from "../event-loop/event-loop-stats.js";
import type { CallerRefused } from "../identity/caller.js";
import type { LayerName } from "../settings/group-settings.js";
import type { Validity } from "../tls/validity.js";
import type { ConfigArrivalOutcome } from "./nodes/arrival.js";
import type { CallInfo, LoadStreamInfo, NodeStreamInfo, StreamInfo } from "./nodes/stream-info.js";
import type { Quarantined } from "./rollouts/quarantined.js";
import type { RolloutOutcome, RolloutStatus } from "./rollouts/rollout-status.js";

/** What happens in a server. No event ever carries the content of a resource. */
export type ServerEvent =
  /** A change was applied; the numbers count what really became different. */
  | {
      readonly kind: "configuration-applied";
      /** Counts the changes that made a difference, from 1 in the life of a server. */
      readonly revision: number;
      readonly layers: readonly LayerName[];
      readonly upserted: number;
      readonly removed: number;
    }
  /** A change was refused whole; what was served before goes on being served. */
  | {
      readonly kind: "configuration-refused";
      /** The name of the source, or of the layer that a program set. */
      readonly source: string;
      readonly findings: readonly Finding[];
    }
  /** The result of waiting for a change to reach its nodes (`arrival.done`). */
  | { readonly kind: "configuration-arrived"; readonly outcome: ConfigArrivalOutcome }
  /** A source checked its resources and found no error; `findings` are warnings. */
  | { readonly kind: "configuration-checked"; readonly source: string; readonly findings: readonly Finding[] }
  | { readonly kind: "stream-opened"; readonly stream: NodeStreamInfo }
  /** Groups were edited: the node of an open stream is in another one now, or its group has other layers. */
  | { readonly kind: "stream-moved"; readonly stream: NodeStreamInfo }
  /** `code` is undefined where the client or the network ended the stream. */
  | {
      readonly kind: "stream-closed";
      readonly stream: NodeStreamInfo;
      readonly code: StatusCode | undefined;
      readonly message: string;
    }
  /** A stream was ended before it got anything: no group for its node, a limit, or an invalid first request. */
  | {
      readonly kind: "stream-refused";
      readonly stream: StreamInfo;
      readonly node: Node | undefined;
      readonly code: StatusCode;
      readonly message: string;
    }
  /** A poll (REST) was answered with an error. The client gets the HTTP status and the message. */
  | {
      readonly kind: "poll-refused";
      readonly peer: string;
      readonly path: string;
      /** The node id in the request, if it was read. */
      readonly node: string | undefined;
      readonly status: number;
      readonly message: string;
    }
  /**
   * A resource for polls (REST) cannot be fully written as JSON. Unknown fields are given in base64, which Envoy
   * ignores; a resource that JSON cannot express is left out. `findings` say what and why. Emitted once for each
   * content.
   */
  | {
      readonly kind: "json-incomplete";
      readonly api: ApiVersion;
      readonly type: ResourceType;
      readonly name: ResourceName;
      readonly version: Version;
      readonly leftOut: boolean;
      readonly findings: readonly Finding[];
    }
  | {
      readonly kind: "subscribed";
      readonly stream: NodeStreamInfo;
      readonly type: ResourceType;
      readonly wildcard: boolean;
      readonly names: number;
    }
  | {
      readonly kind: "acknowledged";
      readonly stream: NodeStreamInfo;
      readonly type: ResourceType;
      readonly version: Version;
    }
  /** The client of a stream uses its target, and nothing is due, after that was not so. It may be held back. */
  | { readonly kind: "synced"; readonly stream: NodeStreamInfo }
  /**
   * A client rejected a response (NACK). Emitted once for each node, type and version, however often it is repeated.
   */
  | {
      readonly kind: "rejected";
      readonly stream: NodeStreamInfo;
      readonly type: ResourceType;
      readonly version: Version;
      /** gRPC status code and text of the client's `error_detail`, cut to a bounded length. */
      readonly code: number;
      readonly message: string;
      /** The resources that the client names as wrong, at most 100; empty if it names none. */
      readonly names: readonly ResourceName[];
    }
  /**
   * A client asks for names of an authority that this server does not serve: they do not exist. Emitted once for each
   * stream and authority.
   */
  | {
      readonly kind: "foreign-authority";
      readonly stream: NodeStreamInfo;
      readonly type: ResourceType;
      readonly authority: string;
    }
  /**
   * A client did not answer a response in time. Changes that waited for the answer, such as the removal of a cluster
   * that its old routes may still name, go on without it.
   */
  | {
      readonly kind: "wait-ended";
      readonly stream: NodeStreamInfo;
      readonly type: ResourceType;
      readonly version: Version;
      readonly waits: readonly Wait[];
    }
  /**
   * A client acknowledged this many resources with a TTL that it is not told, because it is not known to understand
   * TTLs, or would not survive their end: it keeps them. Emitted once for each type of a stream.
   */
  | {
      readonly kind: "ttl-untold";
      readonly stream: NodeStreamInfo;
      readonly type: ResourceType;
      readonly resources: number;
    }
  /**
   * A client ended its stream instead of answering a response of more than 4 MiB. That is all that gRPC's clients take
   * unless they are told otherwise: such a client comes back, and gets the same again.
   */
  | {
      readonly kind: "large-response-unanswered";
      readonly stream: NodeStreamInfo;
      readonly type: ResourceType;
      readonly bytes: number;
    }
  /** A request with an outdated nonce was ignored, as the protocol wants it. */
  | { readonly kind: "stale"; readonly stream: NodeStreamInfo; readonly type: ResourceType }
  /** A call of a service other than discovery was refused, or its stream ended because of a client's fault. */
  | {
      readonly kind: "call-refused";
      readonly call: CallInfo;
      readonly node: Node | undefined;
      readonly code: StatusCode;
      readonly message: string;
    }
  /**
   * A caller was refused by the rules for callers (`identities`). What it is told says nothing of this. `rule`: counted
   * from 0; undefined: none holds. `claimed`: the node that it said it is, if it came so far.
   */
  | ({ readonly kind: "caller-refused" } & CallerRefused)
  | { readonly kind: "load-reporting-started"; readonly stream: LoadStreamInfo }
  /** `code` is undefined where the client or the network ended the stream. */
  | {
      readonly kind: "load-reporting-ended";
      readonly stream: LoadStreamInfo;
      readonly code: StatusCode | undefined;
      readonly message: string;
    }
  /** A client reported its load; `clusters` is the content of this one message. */
  | { readonly kind: "load-report"; readonly stream: LoadStreamInfo; readonly clusters: readonly ClusterLoad[] }
  /**
   * The result for a name that clients of a group asked for and no layer has; only with `onDemand`. `failed`, with
   * `findings`: the supplier will be asked again, or its last resource stays. `dropped`: no client subscribes any
   * more. `refused`: clients ask for too many names; emitted once until there is room again.
   */
  | {
      readonly kind: "on-demand";
      readonly outcome: "supplied" | "absent" | "failed" | "dropped" | "refused";
      readonly type: ResourceType;
      readonly name: ResourceName;
      readonly group: string;
      readonly findings: readonly Finding[];
    }
  /** A rollout of a change to a group's nodes went on, with this outcome. */
  | { readonly kind: "rollout"; readonly outcome: RolloutOutcome; readonly rollout: RolloutStatus }
  /**
   * Contents of resources are held back from streams of a group from now on, or no longer. `resources` has at most 100
   * of them.
   */
  | {
      readonly kind: "quarantine";
      readonly outcome: "began" | "ended";
      readonly group: string;
      readonly count: number;
      readonly resources: readonly Quarantined[];
    }
  /** The event loop was blocked for too long, and clients waited meanwhile. */
  | { readonly kind: "event-loop-blocked"; readonly block: EventLoopBlock }
  /**
   * A connection failed before its first call: its client was refused by TLS, did not trust the server, or spoke no
   * TLS, or another protocol than HTTP/2, such as a balancer's HTTP/1.1. `reason` says what to do.
   */
  | { readonly kind: "handshake-failed"; readonly peer: string; readonly reason: string }
  /**
   * The files hold another certificate of the server, or other authorities for clients: new connections use these.
   * `notAfter`: the end of the server certificate's validity.
   */
  | { readonly kind: "certificates-renewed"; readonly notAfter: Date }
  /** The certificate files cannot be used, so the last good certificates stay in use. Emitted once for each problem. */
  | { readonly kind: "certificates-refused"; readonly findings: readonly Finding[] }
  /** After refused files, the files hold the certificates in use again. */
  | { readonly kind: "certificates-mended" }
  /**
   * The server's certificate is not valid now, or ends soon: within a day, or within a fifth of its validity if that is
   * shorter. Emitted once for each state.
   */
  | ({ readonly kind: "certificate-untimely" } & Validity)
  /** A fault of xdskit itself: the stream was ended with INTERNAL, the server goes on. Please report it. */
  | { readonly kind: "fault"; readonly stream: StreamInfo | CallInfo; readonly error: unknown };

/** Hears every event of a server, in order. */
export type ServerListener = (event: ServerEvent) => void;

/** The kinds of events that a listener wants. */
export type WantedKinds = (kind: ServerEvent["kind"]) => boolean;

/** The fields of an event besides its kind. */
type DetailsOf<Kind extends ServerEvent["kind"]> = Omit<Extract<ServerEvent, { readonly kind: Kind }>, "kind">;

/** Passes events to listeners. */
export interface Events {
  /** Returns a function that stops it. `wants` selects kinds of events; default: all. */
  on(listener: ServerListener, wants?: WantedKinds): () => void;
  /** Takes a function, so that an event that no listener wants is not built: some come with every push. */
  emit<Kind extends ServerEvent["kind"]>(kind: Kind, details: () => DetailsOf<Kind>): void;
}

export function createEvents(): Events {
  const listeners = new Set<{ readonly listener: ServerListener; readonly wants: WantedKinds }>();
  return {
    on(listener, wants = () => true) {
      // An object of its own, so that the same function may listen twice.
      const entry = { listener, wants };
      listeners.add(entry);
      return () => void listeners.delete(entry);
    },
    emit(kind, details) {
      let event: ServerEvent | undefined;
      for (const { listener, wants } of listeners) {
        if (!wants(kind)) continue;
        event ??= { kind, ...details() } as ServerEvent;
        const emitted = event;
        callListener(`a listener of the server, at "${kind}",`, () => listener(emitted));
      }
    },
  };
}

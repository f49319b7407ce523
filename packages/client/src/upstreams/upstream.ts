import type { Registry, ResourceName, ResourceType, ResourceTypes, Version, XdskitError } from "@xdskit/api";
import type { BadResource, CheckMessage, ClientTypeStatus, ReceivedResource, ResourceUpdate } from "@xdskit/protocol";
import type { Backoff } from "../backoff.js";
import type { ClientLimits } from "../client-options.js";
import type { Clock } from "../clock.js";

/** What all upstreams of one client share: its options, with every default filled in. */
export interface UpstreamContext {
  /** The serialized `Node`. */
  readonly node: Uint8Array;
  /** REST sends it with every poll, whatever this says. */
  readonly nodeOn: "first" | "every";
  readonly types: ResourceTypes;
  /** Where messages are looked up; undefined: Envoy's own. */
  readonly registry: Registry | undefined;
  /** The rules of the protos, unless they are turned off, and those of the program. */
  readonly check: CheckMessage;
  readonly limits: ClientLimits;
  readonly absentAfterMs: number;
  readonly backoff: Backoff;
  readonly clock: Clock;
  /** From 0 to 1. */
  readonly random: () => number;
}

/** Where an upstream puts what it gets. Nothing of it throws. */
export interface UpstreamSink {
  /** A stream, of one type or of all, is up; or the first answer of a poll came. */
  connected(type: ResourceType | undefined): void;
  /** It ended, or could not be made. What comes next is another attempt, after a while. */
  disconnected(type: ResourceType | undefined, error: { code: number; message: string } | undefined): void;
  /** Something failed that ended no stream: a poll, the reading of a file (`nack`: its content was rejected). */
  failed(type: ResourceType | undefined, error: XdskitError, nack: boolean): void;
  /** The server answered something (A57, A71): it is there. */
  responded(type: ResourceType): void;
  /** One response. The upstream reads on once the promise settles; it never rejects. */
  update(update: ResourceUpdate): void | Promise<void>;
  /** When a response that could be taken is acknowledged; undefined: at once. Rejects with the reason to reject it. */
  readonly acknowledge: ((update: ResourceUpdate) => Promise<void>) | undefined;
  rejected(type: ResourceType, version: Version, message: string, bad: readonly BadResource[]): void;
}

/** What brings the resources of one server: gRPC streams, REST polls or files. Connects when something is first subscribed to. */
export interface Upstream {
  /** The address, the URL, or what names the files. Without secrets. */
  readonly server: string;
  subscribe(type: ResourceType, names: readonly ResourceName[]): void;
  unsubscribe(type: ResourceType, names: readonly ResourceName[]): void;
  /** The client has these already: see the machine's event. Before the type is first subscribed to. */
  hold(type: ResourceType, resources: readonly ReceivedResource[], version: Version): void;
  /** Another server spoke meanwhile. */
  forgetVersions(): void;
  status(): readonly ClientTypeStatus[];
  /** Ends everything in good order; calls the sink no more. */
  close(): Promise<void>;
}

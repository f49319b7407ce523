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
  /** What a message must keep to: as much as `validate` says, and what the program says. Undefined: nothing. */
  readonly check: CheckMessage | undefined;
  /** Whether the rules of the protos are among it: files are checked by them as they are read, so that errors name lines. */
  readonly rules: boolean;
  readonly limits: ClientLimits;
  readonly absentAfterMs: number;
  readonly backoff: Backoff;
  readonly clock: Clock;
  /** From 0 to 1. */
  readonly random: () => number;
}

/** Where an upstream puts what it gets. Nothing of it throws. */
export interface UpstreamSink {
  /**
   * An attempt to reach the server begins: a stream that is not up, a poll after one that failed. The last moment to tell the upstream what the client holds
   * meanwhile: it may be called from inside.
   */
  attempting(): void;
  /** A stream, of one type or of all, is up; or the first answer of a poll came. */
  connected(type: ResourceType | undefined): void;
  /** What was `connected` is not any more. What comes next is another attempt, after a while. */
  disconnected(type: ResourceType | undefined, error: { code: number; message: string } | undefined): void;
  /**
   * Without `nack` the server is away (A57, A71): an attempt ended without an answer, whether or not a stream was up; a poll failed; a file could not be read.
   * After a stream that was answered comes `disconnected` alone. With `nack` the content of a file was rejected, and `rejected` is not called.
   */
  failed(type: ResourceType | undefined, error: XdskitError, nack: boolean): void;
  /** The server answered something (A57, A71): it is there. Before the `update` of the answer, and also where that brings none. `good`: how many of its resources can be taken, also those that came again as they were. */
  responded(type: ResourceType, good?: number): void;
  /** One response. The upstream reads on once the promise settles; it never rejects. */
  update(update: ResourceUpdate): void | Promise<void>;
  /** When a response that could be taken is acknowledged; undefined: at once. Rejects with the reason to reject it. */
  readonly acknowledge: ((update: ResourceUpdate) => Promise<void>) | undefined;
  /** Something of a response was rejected. After the `update` of the same response. */
  rejected(type: ResourceType, version: Version, message: string, bad: readonly BadResource[]): void;
}

/** What brings the resources of one server: gRPC streams, REST polls or files. Connects when something is first subscribed to. */
export interface Upstream {
  /** The address, the URL, or what names the files. Without secrets. */
  readonly server: string;
  /** `*` is the wildcard. The client asks for a name once, however many watch it. */
  subscribe(type: ResourceType, names: readonly ResourceName[]): void;
  unsubscribe(type: ResourceType, names: readonly ResourceName[]): void;
  /** The client has these already: see the machine's event. While nothing of the type is subscribed to. */
  hold(type: ResourceType, resources: readonly ReceivedResource[], version: Version): void;
  /** Another server spoke meanwhile. */
  forgetVersions(): void;
  status(): readonly ClientTypeStatus[];
  /** Ends everything in good order; calls the sink no more. */
  close(): Promise<void>;
}

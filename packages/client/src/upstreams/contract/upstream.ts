import type { Backoff, Clock, Registry, ResourceName, ResourceType, Version, XdskitError } from "@xdskit/api";
import type {
  BadResource,
  ClientStreamOptions,
  ClientTypeStatus,
  ReceivedResource,
  ResourceUpdate,
} from "@xdskit/protocol";
import type { ClientLimits } from "../../options/client-options.js";

/** The parts that all upstreams of one client share: its options, with defaults. */
export interface UpstreamContext extends Pick<ClientStreamOptions, "node" | "nodeOn" | "types" | "check"> {
  /** The registry of messages; undefined means Envoy's own. */
  readonly registry: Registry | undefined;
  /**
   * Whether the checks include the rules of the protos. Files are checked while they are read, so that errors have line
   * numbers.
   */
  readonly rules: boolean;
  readonly limits: ClientLimits;
  readonly absentAfterMs: number;
  readonly backoff: Backoff;
  readonly clock: Clock;
  /** From 0 to 1. */
  readonly random: () => number;
}

/** Receives the results of an upstream. None of its functions throws. */
export interface UpstreamSink {
  /**
   * An attempt to reach the server begins: a stream, of one type or of all, that is not up, or a poll after a failed
   * one. The last moment to tell the upstream the current resources of the type or of all; the upstream may be called
   * from inside. Other types may have open streams, and `hold` is only for the next one.
   */
  attempting(type: ResourceType | undefined): void;
  /** A stream, of one type or of all, is up; or the first poll was answered. */
  connected(type: ResourceType | undefined): void;
  /** The connection is lost. The next attempt comes after a wait. */
  disconnected(type: ResourceType | undefined, error: { code: number; message: string } | undefined): void;
  /**
   * Without `nack` the server is away (A57, A71): an attempt ended without an answer, whether or not a stream was up; a
   * poll failed; a file could not be read. After a stream that was answered comes only `disconnected`. With `nack` the
   * content of a file was rejected, and `rejected` is not called.
   */
  failed(type: ResourceType | undefined, error: XdskitError, nack: boolean): void;
  /**
   * The server answered (A57, A71), so it is present. Called before the `update` of the answer, if there is one.
   * `good`: the resources that can be taken, including those that did not change.
   */
  responded(type: ResourceType, good?: number): void;
  /** One response. The upstream reads on once the promise settles; the promise never rejects. */
  update(update: ResourceUpdate): void | Promise<void>;
  /**
   * When to acknowledge a response that could be taken; undefined means at once. Rejects with the reason for a NACK.
   */
  readonly acknowledge: ((update: ResourceUpdate) => Promise<void>) | undefined;
  /** A part of a response was rejected. Called after the `update` of the same response. */
  rejected(type: ResourceType, version: Version, message: string, bad: readonly BadResource[]): void;
}

/** Brings the resources of one server: gRPC streams, REST polls or files. Connects at the first subscription. */
export interface Upstream {
  /** The address, the URL, or the files. Without secrets. */
  readonly server: string;
  /** `*` is the wildcard. The client asks for a name once, however many watchers it has. */
  subscribe(type: ResourceType, names: readonly ResourceName[]): void;
  unsubscribe(type: ResourceType, names: readonly ResourceName[]): void;
  /** The client has these already: see the machine's event. Call it while nothing of the type is subscribed to. */
  hold(type: ResourceType, resources: readonly ReceivedResource[], version: Version, isAll?: boolean): void;
  /** Another server answered meanwhile. For the type, or for all. */
  forgetVersions(type: ResourceType | undefined): void;
  status(): readonly ClientTypeStatus[];
  /** Ends everything cleanly; does not call the sink any more. */
  close(): Promise<void>;
}

import type { Nonce, ResourceName, ResourceType, Version } from "@xdskit/api";
import type { Node } from "../../model/basics/node.js";
import type { Wait } from "../../model/basics/wait.js";
import type { StatusCode } from "../../wire/basics/status-code.js";
import type { Rejection } from "../state/used-state.js";

/** A client did not answer a response in time, so the changes that waited for the answer are sent without it. */
export interface WaitEnded {
  readonly type: ResourceType;
  /** The version of the unanswered response; `type` is its type. */
  readonly version: Version;
  /** The changes that waited. */
  readonly waits: readonly Wait[];
}

/** Something that the owner of a stream must do, or may record, after an event. */
export type StreamEffect =
  /**
   * The first request named the node: find its group and answer with a snapshot event, or end the stream. Once per
   * stream.
   */
  | { readonly kind: "identified"; readonly node: Node }
  /** End the stream with this status; the machine takes no further events. */
  | { readonly kind: "close"; readonly code: StatusCode; readonly message: string }
  | { readonly kind: "subscribed"; readonly type: ResourceType; readonly wildcard: boolean; readonly names: number }
  /** The client asks for names of an authority that is not served. Sent once for each of the first few authorities. */
  | { readonly kind: "foreign"; readonly type: ResourceType; readonly authority: string }
  /**
   * The names that the client asks for changed, for a type that is supplied on demand. No list names anything twice.
   */
  | {
      readonly kind: "demanded";
      readonly type: ResourceType;
      readonly added: readonly ResourceName[];
      /** Names that it asked for before and asks for again: it waits for another decision. */
      readonly again: readonly ResourceName[];
      readonly dropped: readonly ResourceName[];
      /** All names that it asks for from now on; streams that ask for the same share the object. */
      readonly names: Iterable<ResourceName>;
    }
  | {
      readonly kind: "acknowledged";
      readonly type: ResourceType;
      readonly nonce: Nonce;
      readonly version: Version;
      /**
       * When the oldest change that it answers was published (`notePublished`), in milliseconds. Undefined if it only
       * answers a request of the client, or nobody recorded the time.
       */
      readonly published: number | undefined;
    }
  | {
      readonly kind: "rejected";
      readonly type: ResourceType;
      readonly nonce: Nonce;
      readonly version: Version;
      /** From `error_detail`, cut to a bounded length. */
      readonly code: number;
      readonly message: string;
      readonly rejection: Rejection;
    }
  /** A client did not answer in time, so the changes that waited go on without its answer. */
  | ({ readonly kind: "wait-ended" } & WaitEnded)
  /**
   * The client acknowledged its target. This many of its resources have a TTL that it is not told (`TtlPolicy`). Sent
   * once for each type.
   */
  | { readonly kind: "ttl-untold"; readonly type: ResourceType; readonly resources: number }
  /** The machine ignored a SotW request with an old or unknown nonce (rules 27, 28). */
  | { readonly kind: "stale"; readonly type: ResourceType };

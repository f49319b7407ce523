import type { Nonce, ResourceName, ResourceType, Version } from "@xdskit/api";
import type { Node } from "../../model/node.js";
import type { Wait } from "../../planning/wait.js";
import type { StatusCode } from "../../wire/status-code.js";
import type { Rejection } from "../state/client-use.js";

/** A client did not answer a response in time: what waited for the answer is sent without it. */
export interface WaitEnded {
  readonly type: ResourceType;
  /** Of the response that was not answered, as is the type. */
  readonly version: Version;
  /** What waited. */
  readonly waits: readonly Wait[];
}

/** What the owner of a stream must do or may note down after an event. */
export type StreamEffect =
  /**
   * The first request named the node: find its group and answer with a snapshot event, or end the stream. Once per
   * stream.
   */
  | { readonly kind: "identified"; readonly node: Node }
  /** End the stream with this status; the machine takes no further events. */
  | { readonly kind: "close"; readonly code: StatusCode; readonly message: string }
  | { readonly kind: "subscribed"; readonly type: ResourceType; readonly wildcard: boolean; readonly names: number }
  /** The client asks for names of an authority that is not served. Once for each authority, and for a few of them. */
  | { readonly kind: "foreign"; readonly type: ResourceType; readonly authority: string }
  /**
   * What the client asks for by name changed, of a type that is supplied on demand. None of the lists names anything
   * twice.
   */
  | {
      readonly kind: "demanded";
      readonly type: ResourceType;
      readonly added: readonly ResourceName[];
      /** Asked for before, and now once more: it waits for another decision. */
      readonly again: readonly ResourceName[];
      readonly dropped: readonly ResourceName[];
      /** All that it asks for by name from now on; streams that ask for the same share it. */
      readonly names: Iterable<ResourceName>;
    }
  | { readonly kind: "acknowledged"; readonly type: ResourceType; readonly nonce: Nonce; readonly version: Version }
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
  /** A client did not answer in time: what waited for it goes on without. */
  | ({ readonly kind: "wait-ended" } & WaitEnded)
  /**
   * The client acknowledged what it is to have, of which so many resources have a TTL that it is not told
   * (`TtlPolicy`). Once for each type.
   */
  | { readonly kind: "ttl-untold"; readonly type: ResourceType; readonly resources: number }
  /** A SotW request with an old or unknown nonce, which was ignored (rules 27, 28). */
  | { readonly kind: "stale"; readonly type: ResourceType };

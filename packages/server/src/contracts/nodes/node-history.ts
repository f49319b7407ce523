import type { Version } from "@xdskit/api";

/**
 * Something that happened between a node and the server. Times are milliseconds since 1970; `type` is the name of a
 * type, such as `cluster`.
 */
export type NodeMoment =
  /** A stream was opened; `peer` is its address, `service` is `ads` or the name of a type. */
  | { readonly kind: "connected"; readonly at: number; readonly peer: string; readonly service: string }
  /** A stream ended; `message` says why, and is empty if the client or the network ended it. */
  | { readonly kind: "disconnected"; readonly at: number; readonly service: string; readonly message: string }
  | {
      readonly kind: "sent";
      readonly at: number;
      readonly type: string;
      readonly version: Version;
      /** How many resources it had, and how many names it removed. */
      readonly resources: number;
      readonly removed: number;
    }
  | { readonly kind: "acknowledged"; readonly at: number; readonly type: string; readonly version: Version }
  | {
      readonly kind: "rejected";
      readonly at: number;
      readonly type: string;
      readonly version: Version;
      /** The client's words, cut to a bounded length. */
      readonly message: string;
    };

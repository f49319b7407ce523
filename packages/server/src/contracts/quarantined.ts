import type { Version } from "@xdskit/api";

/** A content of one resource that some or all streams of a group are not given. */
export interface Quarantined {
  readonly group: string;
  readonly type: string;
  readonly name: string;
  /** Of the content that they are not given; undefined: that the resource is gone. */
  readonly version: Version | undefined;
  /** Of what they are given in its place; undefined: nothing. */
  readonly instead: Version | undefined;
  readonly cause: QuarantineCause;
  readonly since: Date;
  /** The node that rejected it, and its message; empty if none did. */
  readonly node: string;
  readonly message: string;
}

/** Why a content is kept from streams: a client rejected it, or the change that brought it was rolled back. */
export type QuarantineCause = "rejected" | "rolled-back";

/** One that can be ended by hand. */
export interface LiftableQuarantine extends Quarantined {
  /** Everybody is given the content; false if they are already. */
  lift(): boolean;
}

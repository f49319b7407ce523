import type { Version } from "@xdskit/api";

/** A content of one resource that some or all streams of a group are not given. */
export interface Quarantined {
  readonly group: string;
  readonly type: string;
  readonly name: string;
  /** The version of the content that is held back; undefined: the removal of the resource is. */
  readonly version: Version | undefined;
  /** The version of the content in its place; undefined: nothing. */
  readonly instead: Version | undefined;
  readonly cause: QuarantineCause;
  readonly since: Date;
  /** The node that rejected it, and its message; empty if none did. */
  readonly node: string;
  readonly message: string;
}

/** Why a content is held back from streams: a client rejected it, or its change was rolled back. */
export type QuarantineCause = "rejected" | "rolled-back";

/** A quarantine that can be ended by hand. */
export interface LiftableQuarantine extends Quarantined {
  /** Gives the content to all streams; false if they have it already. */
  lift(): boolean;
}

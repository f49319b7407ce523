import type { Version } from "@xdskit/api";
import type { QuarantineCause } from "./quarantine.js";

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
  /** Who rejected it, and why; empty where nobody did. */
  readonly node: string;
  readonly message: string;
}

import type { Resource, ResourceName, ResourceType, Version } from "@xdskit/api";
import type { Count } from "../course/course.js";
import type { RecordedChange, RolloutRecord } from "../records/record.js";
import type { NextRecord } from "../records/record-store.js";
import type { RejectedContent } from "./rejected-contents.js";

/** The record that a server wants to write for a group. */
export interface Proposal {
  readonly next: NextRecord;
  /** Of a change that the known record does not have. */
  readonly list?: readonly RecordedChange[] | undefined;
}

/** The answers of one server's nodes to a rollout. */
export interface ServerCount extends Count {
  /** No node acknowledges. Where that is so at all servers, nothing can be proven. */
  readonly isDeserted: boolean;
}

/** A group of one server, as its shared rollouts see it. */
export interface GroupSide {
  /** The record of the group is another one, or its list is read. */
  recordChanged(): void;
  /** Clients of other servers rejected other contents now. */
  rejectedChanged(): void;
  /** The contents in quarantine that clients of this server rejected. */
  ownRejected(): readonly RejectedContent[];
  /** The record to write now, after this one; undefined: none. */
  proposal(record: RolloutRecord | undefined): Proposal | undefined;
  /** Whether nodes may still be given, because of a record, what was there before its change. */
  needsPast(record: RolloutRecord): boolean;
  /** The answers of its nodes to the change of a record; undefined: it does not carry that change out. */
  count(record: RolloutRecord): ServerCount | undefined;
}

/** A resource of a record's change, with a content read from the store. */
export interface PreparedResource {
  readonly type: ResourceType;
  readonly key: ResourceName;
  readonly from: Version | undefined;
  readonly wanted: Version | undefined;
  /** What nodes have that are not reached; where the rollout is completed, what it brought. */
  readonly resource: Resource | undefined;
}

/** By type and key. */
export type Prepared = ReadonlyMap<string, PreparedResource>;

/** The shared rollouts of a server, as one of its groups sees them. */
export interface GroupShare {
  /** False: the store was away, and nothing is known yet. */
  readonly isRead: boolean;
  readonly record: RolloutRecord | undefined;
  /** The list of the record's change, with contents; undefined: it is being read, and the group hears of it. */
  prepared(): Prepared | undefined;
  /** The group may have something to write. */
  propose(): void;
  leave(): void;
}

import type { ResourceType, Version } from "@xdskit/api";
import type { Snapshot } from "../snapshot.js";
import type { Wait } from "../wait.js";
import type { Subscriber } from "./subscriber.js";

/** One of the streams of an order, as the order sees it. */
export interface OrderedStream {
  readonly subscribers: readonly Subscriber[];
  /** Something that this stream waits for on another one may be over, since that was answered or left: there may be something to send. */
  progressed(): void;
  /** Another stream came, went, or does what this one may have to wait for: this one stops repeating what others did (`Mover`). */
  strayed(): void;
  /** Another stream is about to go to a snapshot that this one is not on its way to: unless this one rests, it stops repeating, too. */
  overtaken(): void;
  /** Whether the stream rests at one of the two snapshots, or is on its way from the first to the second. */
  isBetween(from: Snapshot, to: Snapshot): boolean;
}

/** A client did not answer a response in time: what waited for the answer is sent without it. */
export interface WaitEnded {
  readonly type: ResourceType;
  /** Of the response that was not answered, as is the type. */
  readonly version: Version;
  /** What waited. */
  readonly waits: readonly Wait[];
}

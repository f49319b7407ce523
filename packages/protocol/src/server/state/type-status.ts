import type { ApiVersion, ResourceType, Version } from "@xdskit/api";
import type { Wait } from "../../model/basics/wait.js";
import type { NameSet } from "../../model/names/name-set.js";
import type { ResourceSet } from "../../model/sets/resource-set.js";
import type { Subscription } from "../../model/subscribed/subscription.js";
import type { Rejection } from "./used-state.js";

/**
 * The machine's knowledge of one type on one stream. Sets are shared: reading one is free, walking it costs its size.
 */
export interface TypeStatus {
  readonly type: ResourceType;
  readonly api: ApiVersion;
  readonly subscription: Subscription;
  /** The client's target: the set of the newest snapshot; undefined before there is one. */
  readonly wanted: ResourceSet | undefined;
  /**
   * The set that is enough to be in sync. It is the target. If the client has the target and besides only removed
   * resources that stay for now, it is the client's set. Removed resources stay while connections drain, or while the
   * client asks for them.
   */
  readonly meanwhile: ResourceSet | undefined;
  /**
   * The last response, and the set that the client was brought to since. `at` is in milliseconds of the machine's time.
   */
  readonly sent:
    | {
        readonly version: Version;
        readonly at: number;
        /** When the oldest change in it was published; undefined if it only answered a request. */
        readonly published: number | undefined;
        readonly set: ResourceSet;
      }
    | undefined;
  /**
   * The set that the client surely uses, and when it last acknowledged something. `at` is undefined if the client had
   * the set already when it connected. `names`: the names that this covers, without those that it asked for since.
   */
  readonly acknowledged:
    | {
        readonly version: Version;
        readonly at: number | undefined;
        /** The same of the changes that it acknowledged then. */
        readonly published: number | undefined;
        readonly set: ResourceSet;
        readonly names: NameSet;
      }
    | undefined;
  /**
   * When the oldest change that it has not acknowledged yet was published, sent or not; undefined if it lacks none, or
   * nobody noted the time.
   */
  readonly lackedSince: number | undefined;
  /** The last rejection, until the client uses other content for everything that it rejected. */
  readonly rejected: Rejection | undefined;
  /**
   * The number of unanswered responses, however long ago they were sent. An acknowledgement of a later response answers
   * them too.
   */
  readonly inFlightCount: number;
  /** The set of each of them, oldest first; undefined if there are so many that the oldest were forgotten. */
  readonly inFlightSets: readonly ResourceSet[] | undefined;
  readonly waits: readonly Wait[];
  /** The number of resources of its target with a TTL that the client is not told (`TtlPolicy`). */
  readonly untoldTtls: number;
}

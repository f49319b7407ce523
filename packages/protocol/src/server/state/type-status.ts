import type { ApiVersion, ResourceType, Version } from "@xdskit/api";
import type { NameSet } from "../../model/names/name-set.js";
import type { ResourceSet } from "../../model/resource-set.js";
import type { Subscription } from "../../model/subscription.js";
import type { Wait } from "../../planning/wait.js";
import type { Rejection } from "./client-use.js";

/**
 * What is known of one type on one stream. Sets are shared: reading them costs nothing, walking them what they hold.
 */
export interface TypeStatus {
  readonly type: ResourceType;
  readonly api: ApiVersion;
  readonly subscription: Subscription;
  /** What the newest snapshot has; undefined before there is one. */
  readonly wanted: ResourceSet | undefined;
  /**
   * The same, or where the client only has removed resources besides, that stay because connections drain or because it
   * asks for them: what it has. That is enough to be settled.
   */
  readonly meanwhile: ResourceSet | undefined;
  /**
   * The last response, and the set that the client was brought to since; `at` in milliseconds of the machine's time.
   */
  readonly sent: { readonly version: Version; readonly at: number; readonly set: ResourceSet } | undefined;
  /**
   * The set that the client is known to use, and when it last acknowledged something; `at` is undefined where it had
   * the set already when it connected. `names`: those of its names of which that says something, and not the ones that
   * it asked for since.
   */
  readonly acknowledged:
    | {
        readonly version: Version;
        readonly at: number | undefined;
        readonly set: ResourceSet;
        readonly names: NameSet;
      }
    | undefined;
  /** The last rejection, until the client uses something else in the place of all that it was about. */
  readonly rejected: Rejection | undefined;
  /**
   * How many responses are not answered, neither by themselves nor by what was acknowledged since, however long ago
   * they were sent.
   */
  readonly outstanding: number;
  /**
   * The set to which each of them brings the client, the oldest first; undefined where there are so many that the
   * oldest were forgotten.
   */
  readonly onTheirWay: readonly ResourceSet[] | undefined;
  readonly waits: readonly Wait[];
  /** How many resources that it is to have have a TTL that it is not told (`TtlPolicy`). */
  readonly untoldTtls: number;
}

import { clientKindOf, type Node, type Snapshot } from "@xdskit/protocol";
import type { Caller } from "../identity/caller.js";
import type { SharedStack } from "./shared-stacks.js";
import { withoutSecrets } from "./without-secrets.js";

/** The part of a snapshot that a client is told of. The same snapshot gives the same part. */
export type ShownPart = (snapshot: Snapshot) => Snapshot;

/** Undefined: the client is told of all. */
export function shownPart({ getsSecrets }: Caller, node: Node, { forEnvoys }: SharedStack): ShownPart | undefined {
  const isEnvoy = clientKindOf(node) === "envoy";
  if (!isEnvoy) return getsSecrets ? undefined : withoutSecrets;
  return (snapshot) => forEnvoys.of(getsSecrets ? snapshot : withoutSecrets(snapshot));
}

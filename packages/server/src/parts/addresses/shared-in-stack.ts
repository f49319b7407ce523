import { getOrInsert, type ListeningAddress, type Resource, type ResourceName } from "@xdskit/api";
import { claimedAddresses } from "../../basics/claimed-addresses.js";
import { isOfGrpcServer } from "../../basics/shared-address.js";
import type { LayerChange, LayerResource } from "../../contracts/layer-change.js";
import type { JudgedStack } from "../../contracts/parts/judge.js";
import { addressIndex } from "./address-index.js";

/** Listeners that a stack would have at one address. The first one stays, or came first in the change. */
export interface SharedAddress {
  readonly address: ListeningAddress;
  readonly listeners: readonly [LayerResource, LayerResource, ...LayerResource[]];
}

/**
 * The addresses at which a change brings a listener beside another one. Unchanged listeners are not looked at. Costs
 * the listeners of the change, and a look at each layer for them.
 */
export function sharedInStack(
  { order, before, winner, index }: JudgedStack,
  changes: readonly LayerChange[],
): readonly SharedAddress[] {
  const touched = new Set<ResourceName>();
  const fresh = new Map<string, { readonly address: ListeningAddress; readonly listeners: LayerResource[] }>();
  for (const { type, key } of listenersOf(changes.filter(({ layer }) => order.includes(layer)))) {
    if (touched.has(key)) continue;
    const now = winner(type, key);
    // An unchanged listener is not part of the change.
    if (now !== undefined && now.resource.version === before.of(type).get(key)?.version) continue;
    touched.add(key);
    for (const address of now === undefined ? [] : claimedAddresses(now.resource)) {
      getOrInsert(fresh, address.key, () => ({ address, listeners: [] })).listeners.push(now as LayerResource);
    }
  }
  if (fresh.size === 0) return [];
  const now = index(addressIndex);
  return [...fresh].flatMap(([key, { address, listeners }]) => {
    const stay = [...now.at(key)]
      .filter((other) => !touched.has(other.key))
      .flatMap((other) => winner(other.type, other.key) ?? []);
    const [first, second, ...more] = [...stay, ...listeners];
    if (first === undefined || second === undefined) return [];
    if ([first, second, ...more].some(({ resource }) => isOfGrpcServer(resource.name, address.text))) return [];
    return [{ address, listeners: [first, second, ...more] }];
  });
}

function* listenersOf(changes: readonly LayerChange[]): Iterable<Pick<Resource, "type" | "key">> {
  for (const { upserted, removed } of changes) {
    for (const resource of upserted) if (resource.type.name === "listener") yield resource;
    // Under it the listener of another layer may come to light.
    for (const { type, name } of removed) if (type.name === "listener") yield { type, key: name };
  }
}

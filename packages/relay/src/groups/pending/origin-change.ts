import type { Resource, ResourceName, ResourceType } from "@xdskit/api";

/** A change of one name, as the origin sent it. */
export interface OriginChange {
  readonly type: ResourceType;
  /** In canonical form. */
  readonly name: ResourceName;
  /** Undefined: there is none. */
  readonly resource: Resource | undefined;
}

interface WaitPlace extends Pick<OriginChange, "type" | "name"> {
  /** It is a part of the layer. */
  readonly endsRollback: boolean;
}

/** A `changeKey`: whether it goes, and comes in no other way. */
export function isRemoved(changes: ReadonlyMap<string, OriginChange>, place: string): boolean {
  const found = waitKeysAt(place).flatMap((key) => changes.get(key) ?? []);
  return found.length > 0 && found.every(({ resource }) => resource === undefined);
}

/** The `waitKey` of a change that brings a resource, by its `changeKey`. */
export function comingAt(changes: ReadonlyMap<string, OriginChange>, place: string): string | undefined {
  return waitKeysAt(place).find((key) => changes.get(key)?.resource !== undefined);
}

/**
 * A name may wait twice: as a part of the layer, and because a client asked for it by name, which is served beside the
 * layer. Neither replaces the other.
 */
export function waitKey({ type, name, endsRollback }: WaitPlace): string {
  const [ofLayer, beside] = waitKeysAt(changeKey(type.typeUrl, name));
  return endsRollback ? ofLayer : beside;
}

/** The keys of both waits, by the `changeKey` of the name. */
export function waitKeysAt(place: string): readonly [ofLayer: string, beside: string] {
  return [`layer ${place}`, `beside ${place}`];
}

/** A type and a name. */
export function changeKey(typeUrl: string, name: ResourceName): string {
  return `${typeUrl} ${name}`;
}

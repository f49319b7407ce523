import type { ResourceName, ResourceType } from "@xdskit/api";

/** One text for type and key: for maps over resources of all types. */
export function idOf({
  type,
  key,
}: {
  readonly type: Pick<ResourceType, "typeUrl">;
  readonly key: ResourceName;
}): string {
  return `${type.typeUrl} ${key}`;
}

import type { ResourceType, TypeUrl } from "@xdskit/api";

type Types = Pick<ReadonlySet<TypeUrl>, "has">;

/**
 * Whether a client may have resources of a type that are warming: it has asked for some that warm them (`warmers`),
 * such as endpoints for its clusters, and not for the type yet. Envoy asks for clusters on a new stream only once its
 * earlier ones are warm.
 */
export function mayBeWarming(
  { typeUrl, acknowledgedWarm, warmedBy }: ResourceType,
  asked: Types,
  warmers: Types = asked,
): boolean {
  return acknowledgedWarm && !asked.has(typeUrl) && warmedBy.some((one) => warmers.has(one));
}

import { create, toBinary } from "@bufbuild/protobuf";
import type { ResourceType } from "@xdskit/api";
import { DeltaDiscoveryRequestSchema, DiscoveryRequestSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import type { SotwOrDelta } from "@xdskit/protocol";

/** The parts of a request besides the type. */
interface Said {
  readonly names: readonly string[];
  /** Of the response that it acknowledges. */
  readonly nonce?: string;
  readonly version?: string;
}

/** A request on the wire: a subscription, or an acknowledgement. */
export function requestBytes(
  variant: SotwOrDelta,
  { typeUrl }: ResourceType,
  { names, nonce, version }: Said,
): Uint8Array {
  const node = nonce === undefined ? { id: "n" } : undefined;
  const said = { node, typeUrl, responseNonce: nonce ?? "" };
  return variant === "sotw"
    ? toBinary(
        DiscoveryRequestSchema,
        create(DiscoveryRequestSchema, { ...said, versionInfo: version ?? "", resourceNames: [...names] }),
      )
    : toBinary(
        DeltaDiscoveryRequestSchema,
        create(DeltaDiscoveryRequestSchema, { ...said, resourceNamesSubscribe: [...names] }),
      );
}

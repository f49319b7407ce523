import type { MessageInitShape } from "@bufbuild/protobuf";
import { ApiVersion, type ConfigSourceSchema } from "@xdskit/api/envoy/config/core/v3/config_source";

/** Where a client gets what a resource names. */
export type ConfigSourceFields = MessageInitShape<typeof ConfigSourceSchema>;

/** The client's one ADS stream. */
export const adsSource = {
  resourceApiVersion: ApiVersion.V3,
  configSourceSpecifier: { case: "ads", value: {} },
} as const satisfies ConfigSourceFields;

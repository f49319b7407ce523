import type { ClientResourceStatus as ClientResourceStatusEnum } from "@xdskit/api/envoy/admin/v3/config_dump_shared";
import type { ConfigStatus as ConfigStatusEnum } from "@xdskit/api/envoy/service/status/v3/csds";

// The enum values used here, copied from the generated modules, which would be loaded at every start with all their
// imports.

/** `envoy.service.status.v3.ConfigStatus`. */
export const ConfigStatus: Pick<typeof ConfigStatusEnum, "UNKNOWN" | "SYNCED" | "NOT_SENT" | "STALE" | "ERROR"> = {
  UNKNOWN: 0,
  SYNCED: 1,
  NOT_SENT: 2,
  STALE: 3,
  ERROR: 4,
};
export type ConfigStatus = ConfigStatusEnum;

/** `envoy.admin.v3.ClientResourceStatus`. */
export const ClientResourceStatus: Pick<
  typeof ClientResourceStatusEnum,
  "UNKNOWN" | "REQUESTED" | "DOES_NOT_EXIST" | "ACKED" | "NACKED"
> = { UNKNOWN: 0, REQUESTED: 1, DOES_NOT_EXIST: 2, ACKED: 3, NACKED: 4 };
export type ClientResourceStatus = ClientResourceStatusEnum;

import { isGlobName, type Reference, type ResourceName, type ResourceType, type ResourceTypes } from "@xdskit/api";
import type { FilesSettings, GrpcServerSettings, RestServerSettings } from "@xdskit/client";

/** The settings of a server in full. */
export type ServerSettingsInFull = GrpcServerSettings | RestServerSettings | FilesSettings;

/** A collection that is always asked for. */
export interface WatchedCollection {
  readonly type: ResourceType;
  /** `*`, or `xdstp://…/*`. */
  readonly name: ResourceName;
}

/** Whether a server can be asked for a type in this way. */
export function canAsk(server: ServerSettingsInFull, type: ResourceType, types: ResourceTypes): boolean {
  switch (server.kind) {
    case "files":
      return server.files.some((file) => types.find(file.type) === type);
    case "rest":
      return type.restPath !== undefined && (server.api !== "v2" || type.v2TypeUrl !== undefined);
    case "grpc": {
      const { api = "v3", variant = "delta", aggregated = true } = server;
      if (api === "v2" && type.v2TypeUrl === undefined) return false;
      const service = type.services[api];
      // Virtual hosts and locality endpoints cannot be asked for as a whole state.
      const needsDelta = service !== undefined && service.stream === undefined;
      if (aggregated) return variant === "delta" || !needsDelta;
      return (variant === "delta" ? service?.delta : service?.stream) !== undefined;
    }
  }
}

/**
 * A collection that a resource names: every resource of a type (`*`), or of a folder (`xdstp://…/*`).
 * The relay asks for virtual hosts one by one.
 */
export function isCollectionReference({ name }: Reference): boolean {
  return name === "*" || isGlobName(name);
}

import {
  type ClientConfig,
  ClientStatusDiscoveryService,
  type ClientStatusRequestSchema,
  type ClientStatusResponseSchema,
} from "@xdskit/api/envoy/service/status/v3/csds";
import { type Method, methodOf } from "./message-stream.js";

const service = {
  service: "client-status",
  asked: ({
    nodeMatchers,
    excludeResourceContents,
  }: {
    nodeMatchers: readonly object[];
    excludeResourceContents: boolean;
  }) => `of ${nodeMatchers.length === 0 ? "all" : "one node"}${excludeResourceContents ? ", without contents" : ""}`,
  answered: ({ config }: { readonly config: readonly ClientConfig[] }) => `of ${config.length} nodes`,
};
type StatusMethod = Method<typeof ClientStatusRequestSchema, typeof ClientStatusResponseSchema>;
/** One request, one answer. */
export const fetchingStatus: StatusMethod = {
  ...methodOf(ClientStatusDiscoveryService.method.fetchClientStatus),
  ...service,
};
/** An answer to each request. */
export const streamingStatus: StatusMethod = {
  ...methodOf(ClientStatusDiscoveryService.method.streamClientStatus),
  ...service,
};

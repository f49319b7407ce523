import {
  ClientStatusDiscoveryService,
  type ClientStatusRequest,
  type ClientStatusRequestSchema,
  type ClientStatusResponse,
  type ClientStatusResponseSchema,
} from "@xdskit/api/envoy/service/status/v3/csds";
import { methodOf, type NotedMethod } from "./message-stream.js";

const service = {
  service: "client-status",
  asked: ({ nodeMatchers, excludeResourceContents }: ClientStatusRequest) =>
    `of ${nodeMatchers.length === 0 ? "all" : "one node"}${excludeResourceContents ? ", without contents" : ""}`,
  answered: ({ config }: ClientStatusResponse) => `of ${config.length} nodes`,
};
type StatusMethod = NotedMethod<typeof ClientStatusRequestSchema, typeof ClientStatusResponseSchema>;
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

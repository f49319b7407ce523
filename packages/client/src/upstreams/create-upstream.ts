import type { FullServerSettings } from "../options/client-options.js";
import type { Upstream, UpstreamContext, UpstreamSink } from "./contract/upstream.js";
import { createFilesUpstream } from "./files/files-upstream.js";
import { createGrpcUpstream } from "./grpc/grpc-upstream.js";
import { createRestUpstream } from "./rest/rest-upstream.js";

/** Makes an upstream from settings. */
export type CreateUpstream = (settings: FullServerSettings, context: UpstreamContext, sink: UpstreamSink) => Upstream;

export const createUpstream: CreateUpstream = (settings, context, sink) => {
  switch (settings.kind) {
    case "grpc":
      return createGrpcUpstream(settings, context, sink);
    case "rest":
      return createRestUpstream(settings, context, sink);
    case "files":
      return createFilesUpstream(settings, context, sink);
  }
};

import { XdskitError } from "@xdskit/api";
import type { GrpcServerSettings } from "../../client-options.js";
import type { Upstream, UpstreamContext, UpstreamSink } from "../upstream.js";

/** Discovery over gRPC. */
export function createGrpcUpstream(
  settings: GrpcServerSettings,
  _context: UpstreamContext,
  _sink: UpstreamSink,
): Upstream {
  throw XdskitError.of("XDSKIT_CLIENT_OPTION", `${settings.address}: there is no gRPC yet`);
}

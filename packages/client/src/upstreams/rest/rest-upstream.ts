import { XdskitError } from "@xdskit/api";
import type { RestServerSettings } from "../../client-options.js";
import type { Upstream, UpstreamContext, UpstreamSink } from "../upstream.js";

/** Polls of one REST server. */
export function createRestUpstream(
  settings: RestServerSettings,
  _context: UpstreamContext,
  _sink: UpstreamSink,
): Upstream {
  throw XdskitError.of("XDSKIT_CLIENT_OPTION", `${settings.url}: there are no REST servers yet`);
}

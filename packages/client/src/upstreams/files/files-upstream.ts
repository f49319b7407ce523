import { XdskitError } from "@xdskit/api";
import type { FilesSettings } from "../../client-options.js";
import type { Upstream, UpstreamContext, UpstreamSink } from "../upstream.js";

/** Resources that lie in files, one a type. */
export function createFilesUpstream(settings: FilesSettings, _context: UpstreamContext, _sink: UpstreamSink): Upstream {
  throw XdskitError.of("XDSKIT_CLIENT_OPTION", `${settings.files.length} files: there are no files yet`);
}

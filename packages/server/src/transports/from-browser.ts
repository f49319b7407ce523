import type { IncomingHttpHeaders } from "node:http";

/**
 * Whether a page in a browser sent the request. Every browser says so: it sends `Origin` with each POST, also to the
 * page's own site (Fetch standard, 3.2), and `Sec-Fetch-Site` with every request to a trustworthy site (Fetch
 * Metadata). A page can neither leave them out nor change them. The host says nothing: an Envoy sends the name of its
 * cluster, and a page that came here by DNS rebinding sends its own name. `Sec-Fetch-Mode` does not help, since Node's
 * own `fetch` sends it too.
 */
export function isFromBrowser(headers: IncomingHttpHeaders): boolean {
  return headers.origin !== undefined || headers["sec-fetch-site"] !== undefined;
}

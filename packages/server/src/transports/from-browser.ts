import type { IncomingHttpHeaders } from "node:http";

/**
 * A page in somebody's browser sent the request. Every browser says so: with each POST, whatever its kind and also to the page's own site, it sends `Origin` (Fetch
 * standard, 3.2), and with all to trustworthy sites `Sec-Fetch-Site` (Fetch Metadata). A page can leave out or change neither. The host says nothing: an Envoy sends
 * the name of its cluster, and a page whose name was led here (DNS rebinding) its own. Not `Sec-Fetch-Mode`, which Node's own `fetch` sends, too.
 */
export function isFromBrowser(headers: IncomingHttpHeaders): boolean {
  return headers.origin !== undefined || headers["sec-fetch-site"] !== undefined;
}

import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";

/** The dashboard sends this with each change. A page of another site cannot: its browser would ask us first. */
const ownHeader = "x-xdskit-dashboard";

/** Why a page may change nothing. */
export const foreignPage =
  "a page in a browser may change nothing, but the dashboard of this server, called by its address or localhost";

/**
 * Whether a host is named so that no DNS entry decides where it leads. A page could use a name of its own whose entry
 * leads here, and would be of one origin with us.
 */
export function isLocalName(host = "localhost"): boolean {
  const name = nameIn(host);
  return isIP(name) !== 0 || /^(.+\.)?localhost$/i.test(name);
}

/** Whether a host is the one that the server was told to listen at: whoever set it up decided where it leads. */
export function isCalled(own: string | undefined, host = "localhost"): boolean {
  return own !== undefined && nameIn(host).toLowerCase() === own.toLowerCase();
}

/** Of `HOST:PORT`, without its port and without the brackets of an IPv6 address. */
function nameIn(host: string): string {
  return host.replace(/:\d*$/, "").replace(/^\[(.*)\]$/, "$1");
}

/**
 * Whether a request of a browser comes from the dashboard that this server handed out. All of it must hold: the page is
 * of the host that it asks, which no DNS entry decides; the browser says so, too, where it says something; and the page
 * sent a header that pages of others may not send. `called`: the name of a trusted proxy, which somebody set up.
 */
export function isFromOwnPage(headers: IncomingHttpHeaders, called?: string): boolean {
  const { host = "", origin, "sec-fetch-site": site = "same-origin" } = headers;
  const isSame = origin === `http://${host}` || origin === `https://${host}`;
  return (
    isSame && site === "same-origin" && (isLocalName(host) || isCalled(called, host)) && headers[ownHeader] === "1"
  );
}

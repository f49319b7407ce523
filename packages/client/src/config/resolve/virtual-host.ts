import type { VirtualHost } from "@xdskit/api/envoy/config/route/v3/route_components";

/** The kinds of a domain's match, best first. Among matches of one kind the longest wins. */
const ranks = ["exact", "suffix", "prefix", "all"] as const;

/**
 * The virtual host that serves an authority, as Envoy and gRPC choose it; undefined if none does. Case does not matter.
 */
export function virtualHostFor(hosts: readonly VirtualHost[], authority: string): VirtualHost | undefined {
  const wanted = authority.toLowerCase();
  let best: { readonly host: VirtualHost; readonly rank: number; readonly length: number } | undefined;
  for (const host of hosts) {
    for (const domain of host.domains) {
      const kind = matchOf(domain.toLowerCase(), wanted);
      if (kind === undefined) continue;
      const rank = ranks.indexOf(kind);
      const isBetter = best === undefined || rank < best.rank || (rank === best.rank && domain.length > best.length);
      if (isBetter) best = { host, rank, length: domain.length };
    }
  }
  return best?.host;
}

function matchOf(domain: string, authority: string): (typeof ranks)[number] | undefined {
  if (domain === authority) return "exact";
  if (domain === "*") return "all";
  // The star stands for at least one character.
  if (authority.length < domain.length) return undefined;
  if (domain.startsWith("*")) return authority.endsWith(domain.slice(1)) ? "suffix" : undefined;
  if (domain.endsWith("*")) return authority.startsWith(domain.slice(0, -1)) ? "prefix" : undefined;
  return undefined;
}

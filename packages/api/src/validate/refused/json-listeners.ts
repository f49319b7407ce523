import { isNumericAddress } from "./addresses.js";
import type { CidrRange } from "./cidr-ranges.js";
import { type FilterChainMatch, type MatchingChain, matchProblems } from "./filter-chain-matches.js";
import type { JsonFields } from "./json-fields.js";
import { get, jsonField } from "./json-fields.js";

/** Fields that send a listener to the explaining readers. */
const odd = ["internal_listener", "additional_addresses", "filter_chain_matcher", "udp_listener_config"].map(jsonField);

/** Whether Envoy surely does not refuse a listener in JSON. Its filter chains are checked separately. */
export function jsonListenerCheck(json: JsonFields): boolean {
  if (get.apiListener(json) !== undefined) return true;
  if (odd.some((field) => field(json) !== undefined)) return false;
  if (!isStreamAddress(get.address(json))) return false;
  const chains = get.filterChains(json) ?? [];
  if (!Array.isArray(chains)) return false;
  if (chains.length === 0) return get.defaultFilterChain(json) !== undefined;
  if (chains.length === 1 && get.filterChainMatch(chains[0]) === undefined) return true;
  const read = chains.map((chain) => chainOf(chain));
  return read.every((chain) => chain !== undefined) && matchProblems(read as readonly MatchingChain[]).length === 0;
}

function isStreamAddress(address: unknown): boolean {
  const socket = get.socketAddress(address);
  if (socket === undefined) return get.pipe(address) !== undefined;
  const protocol = get.protocol(socket);
  return protocol === undefined || protocol === "TCP" || protocol === 0;
}

/** Undefined if something is unusual. */
function chainOf(chain: unknown): MatchingChain | undefined {
  const match = get.filterChainMatch(chain);
  if (match === undefined) return { name: "", filterChainMatch: undefined };
  if (get.addressSuffix(match) !== undefined || get.suffixLen(match) !== undefined) return undefined;
  const read = {
    destinationPort: numberOf(get.destinationPort(match) ?? 0),
    prefixRanges: rangesOf(get.prefixRanges(match)),
    directSourcePrefixRanges: rangesOf(get.directSourcePrefixRanges(match)),
    sourcePrefixRanges: rangesOf(get.sourcePrefixRanges(match)),
    sourceType: sourceTypes[String(get.sourceType(match) ?? "ANY")],
    sourcePorts: listOf(get.sourcePorts(match), numberOf),
    serverNames: listOf(get.serverNames(match), textOf),
    transportProtocol: textOf(get.transportProtocol(match) ?? ""),
    applicationProtocols: listOf(get.applicationProtocols(match), textOf),
    addressSuffix: "",
  };
  if (Object.values(read).some((value) => value === undefined)) return undefined;
  return { name: "", filterChainMatch: read as FilterChainMatch };
}

const sourceTypes: { readonly [name: string]: number } = { ANY: 0, SAME_IP_OR_LOOPBACK: 1, EXTERNAL: 2 };

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function listOf<Item>(list: unknown, itemOf: (value: unknown) => Item | undefined): readonly Item[] | undefined {
  if (list === undefined) return [];
  if (!Array.isArray(list)) return undefined;
  const items = list.map(itemOf);
  return items.every((item) => item !== undefined) ? items : undefined;
}

function rangesOf(list: unknown): readonly CidrRange[] | undefined {
  return listOf(list, (range) => {
    const addressPrefix = textOf(get.addressPrefix(range));
    const prefixLen = numberOf(get.prefixLen(range) ?? 0);
    if (addressPrefix === undefined || prefixLen === undefined || !isNumericAddress(addressPrefix)) return undefined;
    return { addressPrefix, prefixLen };
  });
}

import type { FilterChain, FilterChainMatch } from "@xdskit/api/envoy/config/listener/v3/listener_components";
import { canonicalRange, cidrProblems } from "../cidr-ranges.js";
import type { SpecialProblem } from "../problem.js";
import { none, quoted, refused, within } from "../problem.js";

/** Nobody lists more combinations. */
const maxCombinations = 100_000;
/** No client sends a longer name: neither DNS nor ALPN allows it. */
const longestName = 255;

/** Filter chains that match the same connections, and matches that Envoy cannot read. */
export function matchProblems(chains: readonly FilterChain[]): SpecialProblem[] {
  const problems: SpecialProblem[] = [];
  const owners = new Map<string, number>();
  const numberOf = numbering();
  for (const [index, { filterChainMatch }] of chains.entries()) {
    const steps = ["filter_chains", index, "filter_chain_match"];
    const own = filterChainMatch === undefined ? none : ownProblems(filterChainMatch);
    problems.push(...within(own, ...steps));
    if (own.length > 0) continue;
    for (const combination of combinationsOf(filterChainMatch ?? everything, numberOf)) {
      const owner = owners.get(combination);
      if (owner !== undefined) {
        problems.push(refused(filterChainMatch === undefined ? steps.slice(0, 2) : steps, sameAs(owner, index)));
        break;
      }
      owners.set(combination, index);
      if (owners.size >= maxCombinations) return problems;
    }
  }
  return problems;
}

function sameAs(owner: number, index: number): string {
  if (owner === index) return "contains one of its combinations twice";
  return `matches connections that filter_chains[${owner}] matches by the same rules`;
}

function ownProblems(match: FilterChainMatch): readonly SpecialProblem[] {
  const problems: SpecialProblem[] = [
    ...cidrProblems(match.prefixRanges, "prefix_ranges"),
    ...cidrProblems(match.directSourcePrefixRanges, "direct_source_prefix_ranges"),
    ...cidrProblems(match.sourcePrefixRanges, "source_prefix_ranges"),
  ];
  for (const [index, name] of match.serverNames.entries()) {
    if (!name.includes("*") || name.startsWith("*.")) continue;
    problems.push(
      refused(["server_names", index], `may have a wildcard only at its start, as "*.", not ${quoted(name)}`),
    );
  }
  const unknown = (field: string) => refused([field], "is not implemented by Envoy");
  if (match.addressSuffix !== "") problems.push(unknown("address_suffix"));
  if (match.suffixLen !== undefined) problems.push(unknown("suffix_len"));
  return problems;
}

/** Each connection has one combination of these, and Envoy keeps one filter chain for each. */
function combinationsOf(match: typeof everything, numberOf: (part: string) => number): Generator<string> {
  const lists: readonly (readonly string[])[] = [
    [String(match.destinationPort ?? 0)],
    orNone(match.prefixRanges.map(canonicalRange)),
    orNone(match.serverNames.map((name) => name.toLowerCase())),
    [match.transportProtocol],
    orNone(match.applicationProtocols),
    orNone(match.directSourcePrefixRanges.map(canonicalRange)),
    [String(match.sourceType)],
    orNone(match.sourcePrefixRanges.map(canonicalRange)),
    orNone(match.sourcePorts.map(String)),
  ];
  return joined(
    lists.map((parts) => parts.map(numberOf)),
    0,
    "",
  );
}

/** The match of a filter chain that has none. */
const everything: Omit<FilterChainMatch, "$typeName"> = {
  prefixRanges: [],
  directSourcePrefixRanges: [],
  sourcePrefixRanges: [],
  sourceType: 0,
  sourcePorts: [],
  serverNames: [],
  transportProtocol: "",
  applicationProtocols: [],
  addressSuffix: "",
};

/**
 * Numbers for texts, equal for equal texts: the cost of a combination must not depend on the length of its parts. A
 * text that no client sends gets a new number, since a Map compares long texts of equal length.
 */
function numbering(): (text: string) => number {
  const numbers = new Map<string, number>();
  let last = 0;
  return (text) => {
    const known = text.length > longestName ? undefined : numbers.get(text);
    if (known !== undefined) return known;
    last += 1;
    if (text.length <= longestName) numbers.set(text, last);
    return last;
  };
}

function* joined(lists: readonly (readonly number[])[], at: number, before: string): Generator<string> {
  const list = lists[at];
  if (list === undefined) yield before;
  else for (const part of list) yield* joined(lists, at + 1, `${before}${part},`);
}

function orNone(parts: readonly string[]): readonly string[] {
  return parts.length === 0 ? [""] : parts;
}

/** If a matcher tree selects filter chains by name. */
export function namedChainProblems(chains: readonly FilterChain[]): SpecialProblem[] {
  const problems: SpecialProblem[] = [];
  const names = new Set<string>();
  for (const [index, { name, filterChainMatch }] of chains.entries()) {
    const steps = ["filter_chains", index];
    if (name === "") problems.push(refused(steps, "needs a name, by which filter_chain_matcher chooses it"));
    else if (names.has(name))
      problems.push(refused([...steps, "name"], `${quoted(name)} is the name of another chain already`));
    names.add(name);
    const { addressSuffix = "", suffixLen } = filterChainMatch ?? {};
    if (addressSuffix !== "" || suffixLen !== undefined)
      problems.push(refused([...steps, "filter_chain_match"], "has a suffix, which Envoy does not implement"));
  }
  return problems;
}

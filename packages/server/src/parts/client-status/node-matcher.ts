import { createRegexMatch } from "@xdskit/api";
import type { NodeMatcher } from "@xdskit/api/envoy/type/matcher/v3/node";
import type { DoubleMatcher } from "@xdskit/api/envoy/type/matcher/v3/number";
import type { StringMatcher } from "@xdskit/api/envoy/type/matcher/v3/string";
import type { StructMatcher } from "@xdskit/api/envoy/type/matcher/v3/struct";
import type { ValueMatcher } from "@xdskit/api/envoy/type/matcher/v3/value";
import type { Node } from "@xdskit/protocol";

/** Whether a request selects a node. */
export type MatchNode = (node: Node) => boolean;

/** An error in a matcher. */
export class MatcherError extends Error {}

/** The cost of one request's matchers for each node is bounded, since clients choose the patterns and the texts. */
const most = { conditions: 100, regexes: 5, regexInstructions: 300, depth: 10 } as const;
/** A longer text is not read: nothing matches it. */
const maxCharacters = 4_096;

/**
 * Prepares the matchers of one request. A node is selected if one of them matches its id and all of its metadata
 * conditions (`envoy.type.matcher.v3.NodeMatcher`). Without matchers every node is selected. Throws a MatcherError.
 */
export function createNodeMatch(matchers: readonly NodeMatcher[]): MatchNode {
  if (matchers.length === 0) return () => true;
  const counted = { conditions: 0, regexes: 0 };
  const ready = matchers.map((matcher) => nodeMatch(matcher, counted));
  return (node) => ready.some((matches) => matches(node));
}

type Match = (value: unknown) => boolean;
interface MatcherCounts {
  conditions: number;
  regexes: number;
}

function nodeMatch({ nodeId, nodeMetadatas }: NodeMatcher, counted: MatcherCounts): MatchNode {
  count(counted);
  const id = nodeId === undefined ? () => true : stringMatch(nodeId, counted);
  const conditions = nodeMetadatas.map((matcher) => structMatch(matcher, counted));
  return (node) => id(node.id) && conditions.every((holds) => holds(node.metadata));
}

function structMatch({ path, value }: StructMatcher, counted: MatcherCounts): Match {
  const keys = path.map(({ segment }) => (segment.case === "key" ? segment.value : ""));
  if (keys.length === 0 || keys.includes("")) throw new MatcherError("a metadata matcher needs a path of keys");
  if (value === undefined) throw new MatcherError("a metadata matcher needs a value");
  count(counted, keys.length);
  const matches = valueMatch(value, counted, 0);
  return (metadata) => matches(keys.reduce<unknown>(memberOf, metadata));
}

function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value) || !Object.hasOwn(value, key))
    return undefined;
  return (value as { readonly [key: string]: unknown })[key];
}

function valueMatch({ matchPattern }: ValueMatcher, counted: MatcherCounts, depth: number): Match {
  count(counted);
  if (depth >= most.depth) throw new MatcherError("a metadata matcher is nested too deep");
  switch (matchPattern.case) {
    case "nullMatch":
      return (value) => value === null;
    case "boolMatch":
      return (value) => value === matchPattern.value;
    case "stringMatch":
      return stringMatch(matchPattern.value, counted);
    case "doubleMatch":
      return doubleMatch(matchPattern.value);
    case "presentMatch":
      // The value must be a scalar; a list or a struct never matches.
      return (value) => (value === undefined ? !matchPattern.value : matchPattern.value && isSingle(value));
    case "listMatch": {
      const { value: one } = matchPattern.value.matchPattern;
      if (one === undefined) throw new MatcherError("a list matcher needs a value");
      const matches = valueMatch(one, counted, depth + 1);
      return (value) => Array.isArray(value) && value.some(matches);
    }
    case "orMatch": {
      const any = matchPattern.value.valueMatchers.map((each) => valueMatch(each, counted, depth + 1));
      return (value) => any.some((matches) => matches(value));
    }
    case undefined:
      throw new MatcherError("a value matcher without a pattern");
  }
}

function isSingle(value: unknown): boolean {
  return ["string", "number", "boolean"].includes(typeof value);
}

function doubleMatch({ matchPattern }: DoubleMatcher): Match {
  switch (matchPattern.case) {
    case "exact":
      return (value) => value === matchPattern.value;
    case "range": {
      const { start, end } = matchPattern.value;
      return (value) => typeof value === "number" && value >= start && value < end;
    }
    case undefined:
      throw new MatcherError("a number matcher without a pattern");
  }
}

function stringMatch({ matchPattern, ignoreCase }: StringMatcher, counted: MatcherCounts): Match {
  count(counted);
  const fold = (text: string) => (ignoreCase ? text.toLowerCase() : text);
  const ofText = (matches: (text: string) => boolean): Match => {
    return (value) => typeof value === "string" && value.length <= maxCharacters && matches(fold(value));
  };
  switch (matchPattern.case) {
    case "exact": {
      const wanted = fold(matchPattern.value);
      return ofText((text) => text === wanted);
    }
    case "prefix": {
      const wanted = fold(matchPattern.value);
      return ofText((text) => text.startsWith(wanted));
    }
    case "suffix": {
      const wanted = fold(matchPattern.value);
      return ofText((text) => text.endsWith(wanted));
    }
    case "contains": {
      const wanted = fold(matchPattern.value);
      return ofText((text) => text.includes(wanted));
    }
    case "safeRegex": {
      // The expression itself says whether case counts.
      const matches = createRegexMatch(matchPattern.value.regex, most.regexInstructions);
      if (matches === undefined)
        throw new MatcherError("a regular expression that RE2 does not read, or that is too large");
      counted.regexes += 1;
      if (counted.regexes > most.regexes) throw new MatcherError(`more than ${most.regexes} regular expressions`);
      return (value) => typeof value === "string" && value.length <= maxCharacters && matches(value);
    }
    case "custom":
      throw new MatcherError("custom string matchers are not known here");
    case undefined:
      throw new MatcherError("a string matcher without a pattern");
  }
}

function count(counted: MatcherCounts, conditions = 1): void {
  counted.conditions += conditions;
  if (counted.conditions > most.conditions) throw new MatcherError(`more than ${most.conditions} conditions`);
}

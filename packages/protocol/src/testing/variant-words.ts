import type { Constraints } from "@xdskit/api";
import type { DynamicParameterConstraints } from "@xdskit/api/envoy/service/discovery/v3/discovery";

/*
 * Variants in a transcript's words: `a{env=prod,!zone}` is the variant of `a` for clients with env=prod and without a
 * zone; in a request it is a locator with these parameters.
 */

/** A name without the braces behind it, and their content. */
export function splitBraces(word: string): readonly [name: string, braces: string | undefined] {
  const [, name = word, braces] = /^(.*?)\{(.*)\}$/.exec(word) ?? [];
  return [name, braces];
}

/** The constraints of a variant; undefined for one that fits all clients. */
export function readConstraints(braces: string | undefined): Constraints | undefined {
  if (braces === undefined || braces === "") return undefined;
  const all = braces.split(",").map((text): Constraints => {
    if (text.startsWith("!")) return { kind: "not", of: readOne(text.slice(1)) };
    return readOne(text);
  });
  const [first, ...rest] = all;
  return first !== undefined && rest.length === 0 ? first : { kind: "all", of: all };
}

function readOne(text: string): Constraints {
  const [key = "", value] = text.split(/=(.*)/);
  return value === undefined ? { kind: "exists", key } : { kind: "value", key, value };
}

/** The parameters of a locator. */
export function readParameters(braces: string): { readonly [key: string]: string } {
  const pairs = braces === "" ? [] : braces.split(",").map((pair) => pair.split("=", 2) as [string, string]);
  return Object.fromEntries(pairs);
}

/** Constraints as they came over the wire, in braces. */
export function describeConstraints(message: DynamicParameterConstraints | undefined): string {
  return message === undefined ? "{}" : `{${describe(message)}}`;
}

function describe({ type }: DynamicParameterConstraints): string {
  switch (type.case) {
    case "constraint": {
      const { key, constraintType } = type.value;
      return constraintType.case === "value" ? `${key}=${constraintType.value}` : key;
    }
    case "notConstraints":
      return `!${describe(type.value)}`;
    case "andConstraints":
      return type.value.constraints.map(describe).join(",");
    default:
      throw new Error(`no transcript has such constraints: ${type.case}`);
  }
}

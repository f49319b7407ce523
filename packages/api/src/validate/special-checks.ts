import type { Message } from "@bufbuild/protobuf";
import { regexProblem } from "./regex.js";

/** Something that no rule in the protos says and that is nevertheless certain to be refused by clients. */
export interface SpecialProblem {
  readonly code: "XDSKIT_REGEX_INVALID";
  readonly field: string;
  readonly message: string;
}

const regexFields: Readonly<Record<string, string>> = {
  "envoy.type.matcher.v3.RegexMatcher": "regex",
  "xds.type.matcher.v3.RegexMatcher": "regex",
  "envoy.config.metrics.v3.TagSpecifier": "regex",
};

/** Whether messages of a type have a check of their own, or must be looked into. */
export function isSpecial(typeName: string): boolean {
  return typeName === "google.protobuf.Any" || Object.hasOwn(regexFields, typeName);
}

/** What is wrong with a message of a type that has a check of its own. */
export function specialProblem(typeName: string, message: Message): SpecialProblem | undefined {
  const field = regexFields[typeName];
  if (field === undefined) return undefined;
  const own = (message as Message & { readonly [name: string]: unknown })[field];
  const chosen = (message as Message & { readonly tagValue?: { readonly case?: string; readonly value?: unknown } })
    .tagValue;
  const expression = typeof own === "string" ? own : chosen?.case === field ? chosen.value : undefined;
  if (typeof expression !== "string") return undefined;
  const reason = regexProblem(expression);
  return reason === undefined
    ? undefined
    : { code: "XDSKIT_REGEX_INVALID", field, message: `is no RE2 expression: ${reason}` };
}

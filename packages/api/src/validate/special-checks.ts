import type { Message } from "@bufbuild/protobuf";
import type { XdskitErrorCode } from "../error-codes.js";
import type { FieldStep } from "../field-path.js";
import { judgeRegex } from "./regex.js";

/** Something that no rule in the protos says and that clients refuse nevertheless. */
export interface SpecialProblem {
  readonly code: XdskitErrorCode;
  readonly severity: "error" | "warning";
  readonly steps: readonly FieldStep[];
  readonly message: string;
}

/** Envoy refuses larger programs, unless its runtime or the matcher itself says otherwise. */
export const programLimit = 100;

const checks: Readonly<Record<string, (message: never) => readonly SpecialProblem[]>> = {
  "envoy.type.matcher.v3.RegexMatcher": checkRegex,
  "xds.type.matcher.v3.RegexMatcher": checkRegex,
  "envoy.config.route.v3.RouteConfiguration": checkDomains,
  "envoy.config.route.v3.VirtualHost": checkHostDomains,
};

/** Whether messages of a type have a check of their own, or must be looked into. */
export function isSpecial(typeName: string): boolean {
  return typeName === "google.protobuf.Any" || Object.hasOwn(checks, typeName);
}

/** What is wrong with a message of a type that has a check of its own. */
export function specialProblems(typeName: string, message: Message): readonly SpecialProblem[] {
  return checks[typeName]?.(message as never) ?? [];
}

interface RegexMatcher {
  readonly regex: string;
  readonly engineType?: { readonly value?: { readonly maxProgramSize?: number | undefined } | undefined } | undefined;
}

function checkRegex({ regex, engineType }: RegexMatcher): readonly SpecialProblem[] {
  const verdict = judgeRegex(regex);
  const steps = ["regex"];
  if (verdict.kind === "invalid") {
    return [
      { code: "XDSKIT_REGEX_INVALID", severity: "error", steps, message: `is no RE2 expression: ${verdict.reason}` },
    ];
  }
  const limit = engineType?.value?.maxProgramSize ?? programLimit;
  if (verdict.size <= limit) return [];
  const message = `has a program of about ${verdict.size} instructions; Envoy refuses more than ${limit}`;
  return [{ code: "XDSKIT_REGEX_LARGE", severity: "warning", steps, message }];
}

interface VirtualHost {
  readonly name: string;
  readonly domains: readonly string[];
}

/** The proto's comment says it: a domain must be unique across all virtual hosts. `checkHostDomains` looks into each of them. */
function checkDomains(routes: { readonly virtualHosts: readonly VirtualHost[] }): readonly SpecialProblem[] {
  const problems: SpecialProblem[] = [];
  const owners = new Map<string, { readonly name: string; readonly host: number }>();
  for (const [host, { name, domains }] of routes.virtualHosts.entries()) {
    for (const [index, domain] of domains.entries()) {
      const owner = owners.get(asciiLowerCase(domain));
      if (owner === undefined) owners.set(asciiLowerCase(domain), { name, host });
      else if (owner.host !== host)
        problems.push(duplicate(["virtual_hosts", host, "domains", index], domain, owner.name));
    }
  }
  return problems;
}

/** A virtual host may be a resource of its own, too. */
function checkHostDomains({ name, domains }: VirtualHost): readonly SpecialProblem[] {
  const problems: SpecialProblem[] = [];
  const seen = new Set<string>();
  for (const [index, domain] of domains.entries()) {
    if (seen.has(asciiLowerCase(domain))) problems.push(duplicate(["domains", index], domain, name));
    seen.add(asciiLowerCase(domain));
  }
  return problems;
}

/** An error: Envoy refuses the whole route configuration, and keeps none of its virtual hosts. */
function duplicate(steps: readonly FieldStep[], domain: string, owner: string): SpecialProblem {
  const message = `the domain ${JSON.stringify(domain)} belongs to the virtual host ${JSON.stringify(owner)} already`;
  return { code: "XDSKIT_CLIENTS_REFUSE", severity: "error", steps, message };
}

/** Envoy compares domains without the case of ASCII's letters, and of no others. */
function asciiLowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

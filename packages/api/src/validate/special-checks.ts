import type { RouteConfiguration } from "@xdskit/api/envoy/config/route/v3/route";
import type { VirtualHost } from "@xdskit/api/envoy/config/route/v3/route_components";
import type { RegexMatcher } from "@xdskit/api/envoy/type/matcher/v3/regex";
import type { FieldStep } from "../errors/field-path.js";
import { asciiLowerCase } from "../names/host-names.js";
import type { SpecialProblem } from "./refused/problem.js";
import type { Rule } from "./refused/rules.js";
import { judgeRegex } from "./values/regex.js";

/** Envoy refuses larger programs, unless its runtime or the matcher sets another limit. */
const programLimit = 100;

const checks: Readonly<Record<string, Rule>> = {
  "envoy.type.matcher.v3.RegexMatcher": checkRegex,
  "xds.type.matcher.v3.RegexMatcher": checkRegex,
  "envoy.config.route.v3.RouteConfiguration": checkDomains,
  "envoy.config.route.v3.VirtualHost": checkHostDomains,
};

/** Whether messages of a type have a special check, or must be searched. */
export function isSpecial(typeName: string): boolean {
  return typeName === "google.protobuf.Any" || Object.hasOwn(checks, typeName);
}

/** The special checks of a type. */
export function specialRules(typeName: string): readonly Rule[] {
  const check = checks[typeName];
  return check === undefined ? none : [check];
}

const none: readonly Rule[] = [];

function checkRegex({ regex, engineType }: RegexMatcher): readonly SpecialProblem[] {
  const verdict = judgeRegex(regex);
  const steps = ["regex"];
  if (verdict.kind === "invalid") {
    return [
      {
        code: "XDSKIT_REGEX_INVALID",
        severity: "error",
        steps,
        message: `is not an RE2 expression: ${verdict.reason}`,
      },
    ];
  }
  const limit = engineType?.value?.maxProgramSize ?? programLimit;
  if (verdict.size <= limit) return [];
  const message = `has a program of about ${verdict.size} instructions; Envoy refuses more than ${limit}`;
  return [{ code: "XDSKIT_REGEX_LARGE", severity: "warning", steps, message }];
}

/**
 * By the proto's comment a domain must be unique across all virtual hosts. `checkHostDomains` checks inside each of
 * them.
 */
function checkDomains(routes: RouteConfiguration): readonly SpecialProblem[] {
  const problems: SpecialProblem[] = [];
  const owners = new Map<string, { readonly name: string; readonly host: number }>();
  for (const [host, { name, domains }] of routes.virtualHosts.entries()) {
    for (const [index, domain] of domains.entries()) {
      const key = asciiLowerCase(domain);
      const owner = owners.get(key);
      if (owner === undefined) owners.set(key, { name, host });
      else if (owner.host !== host)
        problems.push(duplicate(["virtual_hosts", host, "domains", index], domain, owner.name));
    }
  }
  return problems;
}

/** A virtual host may also be a resource. */
function checkHostDomains({ name, domains }: VirtualHost): readonly SpecialProblem[] {
  const problems: SpecialProblem[] = [];
  const seen = new Set<string>();
  for (const [index, domain] of domains.entries()) {
    const key = asciiLowerCase(domain);
    if (seen.has(key)) problems.push(duplicate(["domains", index], domain, name));
    seen.add(key);
  }
  return problems;
}

/** An error, since Envoy refuses the whole route configuration with all its virtual hosts. */
function duplicate(steps: readonly FieldStep[], domain: string, owner: string): SpecialProblem {
  const message = `the domain ${JSON.stringify(domain)} belongs to the virtual host ${JSON.stringify(owner)} already`;
  return { code: "XDSKIT_CLIENTS_REFUSE", severity: "error", steps, message };
}

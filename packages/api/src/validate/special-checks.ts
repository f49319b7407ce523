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
  "envoy.config.cluster.v3.Cluster": checkCluster,
  "envoy.config.listener.v3.Listener": checkListener,
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

/** The proto's comment says it: a domain must be unique across all virtual hosts. Envoy compares without case. */
function checkDomains(routes: {
  readonly virtualHosts: readonly { readonly name: string; readonly domains: readonly string[] }[];
}): readonly SpecialProblem[] {
  const problems: SpecialProblem[] = [];
  const owners = new Map<string, string>();
  for (const [host, { name, domains }] of routes.virtualHosts.entries()) {
    for (const [index, domain] of domains.entries()) {
      const owner = owners.get(domain.toLowerCase());
      if (owner !== undefined) {
        const message = `the domain ${JSON.stringify(domain)} belongs to the virtual host ${JSON.stringify(owner)} already`;
        problems.push(refusal(["virtual_hosts", host, "domains", index], message));
      }
      owners.set(domain.toLowerCase(), owner ?? name);
    }
  }
  return problems;
}

/** DiscoveryType.EDS */
const eds = 3;

function checkCluster(cluster: {
  readonly clusterDiscoveryType: { readonly case?: string | undefined; readonly value?: unknown };
  readonly edsClusterConfig?: { readonly edsConfig?: unknown } | undefined;
}): readonly SpecialProblem[] {
  const { clusterDiscoveryType: discovery, edsClusterConfig } = cluster;
  if (discovery.case !== "type" || discovery.value !== eds || edsClusterConfig?.edsConfig !== undefined) return [];
  return [
    refusal(
      ["type"],
      "a cluster of type EDS needs eds_cluster_config.eds_config, such as { ads: {}, resource_api_version: V3 }",
    ),
  ];
}

function checkListener(listener: {
  readonly address?: unknown;
  readonly apiListener?: unknown;
  readonly listenerSpecifier: { readonly case?: string | undefined };
}): readonly SpecialProblem[] {
  const { address, apiListener, listenerSpecifier } = listener;
  if ([address, apiListener, listenerSpecifier.case].some((part) => part !== undefined)) return [];
  return [refusal([], "a listener needs an address, unless it is an api_listener or an internal_listener")];
}

/** A warning only: what a client makes of it is the client's own affair, and not every client is Envoy. */
function refusal(steps: readonly FieldStep[], message: string): SpecialProblem {
  return { code: "XDSKIT_CLIENTS_REFUSE", severity: "warning", steps, message };
}

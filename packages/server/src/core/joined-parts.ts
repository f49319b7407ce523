import { XdskitError } from "@xdskit/api";
import type { LiveOptions } from "../contracts/kernel-options.js";
import type { Judge } from "../contracts/parts/judge.js";
import type { OfferedServices, PartAnswers, PartStats, PluggedPart } from "../contracts/parts/part.js";
import type { Progress } from "../contracts/parts/progress.js";
import type { Supply } from "../contracts/parts/supply.js";
import type { TargetPolicy } from "../contracts/parts/target-policy.js";
import { joinedPolicies } from "./joined-policies.js";
import { joinedProgress } from "./joined-progress.js";

/** All parts of a server, as if they were one. */
export interface JoinedParts {
  readonly judges: readonly Judge[];
  readonly policy: TargetPolicy;
  readonly supply: Supply | undefined;
  readonly progress: Progress;
  readonly services: readonly OfferedServices[];
  readonly answers: PartAnswers;
  stats(): PartStats;
  reconfigured(change: LiveOptions): void;
  closing(): void;
  closed(): void;
}

/** Throws an XdskitError if two of them supply names. */
export function joinedParts(each: readonly PluggedPart[]): JoinedParts {
  const [supply, another] = each.flatMap((part) => part.supply ?? []);
  if (another !== undefined)
    throw XdskitError.of("XDSKIT_SERVER_OPTION", "createServer: two of the parts supply names; one may");
  return {
    judges: each.flatMap(({ judges = [] }) => judges),
    policy: joinedPolicies(each.flatMap(({ policy }) => policy ?? [])),
    supply,
    progress: joinedProgress(each.flatMap(({ progress }) => progress ?? [])),
    services: each.flatMap(({ services = [] }) => services),
    answers: Object.assign({ ...unanswered }, ...each.map(({ answers }) => answers)),
    stats: () => Object.assign({ onDemand: undefined, views: noViews }, ...each.map((part) => part.stats?.())),
    reconfigured(change) {
      for (const part of each) part.reconfigured?.(change);
    },
    closing() {
      for (const part of each) part.closing?.();
    },
    closed() {
      for (const part of each) part.closed?.();
    },
  };
}

const noViews: PartStats["views"] = { rollouts: [], quarantined: [] };

/** The parts of xdskit that answer. */
const answeredBy: Readonly<Record<keyof PartAnswers, string>> = {
  arrivalOf: "arrivals",
  clientStatusPage: "client-status",
  contentArrival: "arrivals",
  danglingNames: "references",
  eachNode: "node-status",
  loadReports: "load-reports",
  loadTotals: "load-reports",
  node: "node-status",
  nodeConfig: "node-status",
  nodeContents: "node-status",
  nodeHistory: "node-status",
  nodeStates: "node-status",
  nodes: "node-status",
  oldestInUse: "node-status",
  quarantines: "rollouts",
  rollouts: "rollouts",
  shareRollouts: "rollouts",
};

/** The answers of a server without any part. */
const unanswered = Object.fromEntries(
  Object.entries(answeredBy).map(([method, part]) => [
    method,
    () => {
      const message = `server.${method}: the server was made without a part that answers, such as ${part}`;
      throw XdskitError.of("XDSKIT_SERVER_OPTION", message);
    },
  ]),
);

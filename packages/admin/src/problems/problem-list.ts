import { type Finding, getOrInsert } from "@xdskit/api";
import type { Quarantined, RolloutStatus } from "@xdskit/server";
import type { SourceReport, Trouble } from "../contract/admin-options.js";
import type { ProblemEntry, ProblemList } from "../contract/answers.js";
import type { FleetSummary, NodeProblem } from "../contract/fleet.js";
import { maxInEntry, maxInList } from "../contract/limits.js";
import { advice } from "./advice.js";
import { byCause } from "./by-cause.js";

/** Everything that can be wrong. */
export interface ProblemInputs {
  readonly nodes: readonly NodeProblem[];
  readonly sources: readonly SourceReport[];
  readonly rollouts: readonly RolloutStatus[];
  readonly quarantines: readonly Quarantined[];
  readonly troubles: readonly Trouble[];
  /** Other servers of the store that do not answer. */
  readonly silent: FleetSummary["silent"];
  /** The groups that have a resource. */
  groupsOf(type: string, name: string): readonly string[];
}

/** From the worst on. */
const ranks: readonly ProblemEntry["kind"][] = [
  "certificate",
  "store",
  "settings",
  "replica",
  "folder-differs",
  "origin",
  "change-refused",
  "rejected",
  "client",
  "rollout-halted",
  "restored",
  "silent",
  "quarantine",
  "rolled-back",
  "dangling",
  "warning",
];

/** All problems in one list, the worst first. */
export function problemList({ troubles, silent, nodes, sources, groupsOf, ...more }: ProblemInputs): ProblemList {
  const { rollouts, quarantines } = more;
  const ofSources = mergedSources(sources).map((one) => {
    const [name] = one.names;
    if (one.type === null || name === undefined || one.groups.length > 0) return one;
    return { ...one, groups: [...groupsOf(one.type, name)] };
  });
  const all = [
    ...troubles.map(ofTrouble),
    ...silent.map(ofReplica),
    ...nodes.map(ofNodes),
    ...byCause(ofSources),
    ...rollouts.filter(({ state }) => state === "halted").map(ofRollout),
    ...ofQuarantines(quarantines),
  ];
  const isError = ({ severity }: ProblemEntry) => severity === "error";
  all.sort(
    (a, b) =>
      Number(isError(b)) - Number(isError(a)) || ranks.indexOf(a.kind) - ranks.indexOf(b.kind) || b.count - a.count,
  );
  const errors = all.filter(isError).length;
  const asOf = new Date().toISOString();
  return { asOf, errors, warnings: all.length - errors, problems: all.slice(0, maxInList) };
}

type ProblemParts = Pick<ProblemEntry, "id" | "kind" | "severity" | "title" | "detail"> & Partial<ProblemEntry>;

function entry(parts: ProblemParts): ProblemEntry {
  const ofNodes = { count: 1, types: [], nodes: [], groups: [] };
  const usual = { ...ofNodes, since: null, expires: null, type: null, names: [], where: null, code: null };
  return { ...usual, advice: advice[parts.kind], ...parts };
}

function ofReplica({ replica, reason }: FleetSummary["silent"][number]): ProblemEntry {
  const title = `${replica} does not answer the other servers`;
  return entry({ id: `replica ${replica}`, kind: "replica", severity: "error", title, detail: reason });
}

function ofNodes(problem: NodeProblem): ProblemEntry {
  const { id, kind, types, reason, nodes, ids, groups, since, blamed, resources } = problem;
  const isRejected = kind === "rejected";
  const who = nodes === 1 ? (ids[0] ?? "1 node") : `${nodes} nodes`;
  const [type, name] = [types[0] ?? null, blamed[0]];
  // One node may have several problems: each says what it is about.
  const isOne = isRejected && types.length === 1 && name !== undefined && blamed.length === 1;
  const isWhole = isRejected && types.length === 1 && name === undefined && resources > 1;
  const all = isWhole ? `${resources} ${type} resources without naming one` : `the ${listText(types)} configuration`;
  const what = isOne ? `${type} ${name}` : all;
  return entry({
    id,
    kind: isRejected ? "rejected" : "silent",
    severity: isRejected ? "error" : "warning",
    title: isRejected
      ? `${who} ${nodes === 1 ? "rejects" : "reject"} ${what}`
      : `${who} ${nodes === 1 ? "is" : "are"} silent about ${listText(types)}`,
    detail: reason,
    count: nodes,
    since,
    type,
    types,
    names: blamed,
    nodes: ids,
    groups,
  });
}

/** `cluster, route and listener`. */
function listText(words: readonly string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

/** What the sources of several servers have alike is one problem. Otherwise it says which of them have it. */
function mergedSources(sources: readonly SourceReport[]): readonly ProblemEntry[] {
  const found = new Map<string, { readonly entry: ProblemEntry; readonly replicas: Set<string> }>();
  for (const source of sources) {
    for (const one of ofSource(source)) {
      const known = getOrInsert(found, one.id, () => ({ entry: one, replicas: new Set<string>() }));
      known.replicas.add(source.replica ?? "");
    }
  }
  const all = new Set(sources.map(({ replica = "" }) => replica)).size;
  return Array.from(found.values(), ({ entry: one, replicas }) => {
    if (replicas.size === all) return one;
    return { ...one, detail: `${one.detail} (at ${[...replicas].sort().join(", ")})` };
  });
}

function ofSource(source: SourceReport): readonly ProblemEntry[] {
  const { name, findings, lastError, restored, rolledBack, state } = source;
  const found = findings.map((finding) => ofFinding(name, finding));
  if (restored != null) {
    const title = `${name} has errors: an older revision is served`;
    const detail = `revision ${restored.revision} of ${restored.time} is served until the errors are fixed`;
    found.push(
      entry({ id: `restored ${name}`, kind: "restored", severity: "error", title, detail, since: restored.time }),
    );
  }
  if (rolledBack != null) {
    const title = `${rolledBack.layer} is rolled back`;
    const detail = `revision ${rolledBack.to} is served until its source changes`;
    const since = rolledBack.time;
    found.push(entry({ id: `rolled-back ${name}`, kind: "rolled-back", severity: "warning", title, detail, since }));
  }
  // An origin that is back has no problem.
  if (lastError != null && state !== "connected") {
    const title = `${name} does not answer`;
    const detail = lastError.message;
    found.push(entry({ id: `origin ${name}`, kind: "origin", severity: "error", title, detail, since: lastError.at }));
  }
  return found;
}

function ofFinding(source: string, finding: Finding): ProblemEntry {
  const { code, severity, message, file, line, column, type, resource, field } = finding;
  const kind = kindOf(finding);
  const about = resource === undefined ? "" : `${type ?? "resource"} ${resource}`;
  const titles: Partial<Record<ProblemEntry["kind"], string>> = {
    store: "The store cannot be written",
    "folder-differs": "Servers of the store have different folders",
    dangling: `${about === "" ? source : about} names what is not there`,
  };
  const refused = `${about === "" ? (file ?? source) : about} is refused`;
  return entry({
    id: `${kind} ${source} ${code} ${file ?? ""} ${about} ${message}`,
    kind,
    severity,
    code,
    title: titles[kind] ?? (severity === "error" ? refused : `${about === "" ? (file ?? source) : about}: a warning`),
    detail: field === undefined ? message : `${field}: ${message}`,
    type: type ?? null,
    names: resource === undefined ? [] : [resource],
    where: file === undefined ? null : { file, line, column },
  });
}

function kindOf({ code, severity }: Finding): ProblemEntry["kind"] {
  if (code === "XDSKIT_STORE") return "store";
  if (code === "XDSKIT_FOLDER_DIFFERS") return "folder-differs";
  if (code === "XDSKIT_DANGLING_REFERENCE" && severity !== "error") return "dangling";
  return severity === "error" ? "change-refused" : "warning";
}

function ofRollout({ id, group, reason, step, steps, nodes, since }: RolloutStatus): ProblemEntry {
  return entry({
    id: `rollout ${group} ${id}`,
    kind: "rollout-halted",
    severity: "error",
    title: `The rollout of ${group} is halted at step ${step} of ${steps.length}`,
    detail: reason,
    count: nodes.reached,
    since: since.toISOString(),
    groups: [group],
  });
}

/** One problem for all quarantines of a group. */
function ofQuarantines(quarantines: readonly Quarantined[]): readonly ProblemEntry[] {
  const groups = [...new Set(quarantines.map(({ group }) => group))];
  return groups.map((group) => {
    const kept = quarantines.filter((one) => one.group === group);
    const [first] = kept;
    const names = kept.slice(0, maxInEntry).map(({ name }) => name);
    return entry({
      id: `quarantine ${group}`,
      kind: "quarantine",
      severity: "warning",
      title: `${kept.length} ${kept.length === 1 ? "resource" : "resources"} of ${group} in quarantine`,
      detail: first === undefined ? "" : `${first.type} ${first.name}: ${first.message || first.cause}`,
      count: kept.length,
      names,
      groups: [group],
      since: first?.since.toISOString() ?? null,
      type: first?.type ?? null,
    });
  });
}

function ofTrouble({ kind, severity, title, message, since, expires, where }: Trouble): ProblemEntry {
  const titles = {
    certificate: "The server's certificate needs a look",
    store: "The store is not what it should be",
    settings: "The settings file has errors",
    client: "Clients come again and again, and get nowhere",
  };
  const place = where == null ? "" : `${where.file}:${where.line}:${where.column} `;
  return entry({
    id: `${kind} ${place}${kind === "client" ? title : ""}${message}`,
    kind,
    severity,
    title: title ?? titles[kind],
    detail: message,
    since: new Date(since).toISOString(),
    expires: expires === undefined ? null : new Date(expires).toISOString(),
    where: where ?? null,
  });
}

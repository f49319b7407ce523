import { rmSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Finding, maxKept, type Resource, redactErrorText, type Where } from "@xdskit/api";
import type { ServedGroup } from "../../checking/dangling-references.js";
import { bootstrapOf } from "./bootstrap.js";
import { type EnvoyProgram, type EnvoyVerdict, envoyProgram } from "./envoy-program.js";
import { type Probe, probeOf } from "./probes.js";

/** What an Envoy said of a folder. */
export interface EnvoysAnswer {
  readonly version: string;
  /** How many resources it was asked about. */
  readonly asked: number;
  /** How many it was not asked about, by type. */
  readonly notAsked: ReadonlyMap<string, number>;
  readonly findings: readonly Finding[];
}

/** Milliseconds for all questions about a folder. */
const longestMs = 120_000;
/** More refused resources are not looked for. */
const maxRefused = 20;
/** Characters of a message. Envoy may quote a whole resource. */
const longestReason = 1000;

/**
 * Asks the Envoy at a path about the resources of each group. `whereIs` says where one is in the files.
 * @throws XdskitError XDSKIT_ENVOY_UNUSABLE if it is not there, cannot be run, or is no Envoy
 */
export async function askEnvoy(
  path: string,
  groups: readonly ServedGroup[],
  whereIs: (resource: Resource) => Where | undefined,
  longest = longestMs,
): Promise<EnvoysAnswer> {
  const program = await envoyProgram(path);
  const asked = new Set<Resource>();
  const notAsked = new Map<string, Set<Resource>>();
  const findings = new Map<string, Finding>();
  const deadline = performance.now() + longest;
  await inTemporaryFolder(async (directory) => {
    for (const { resources } of groups) {
      const questions = new Questions(program, directory, deadline);
      const probes = probesOf(resources);
      for (const { resource } of probes) asked.add(resource);
      for (const resource of resources) {
        if (asked.has(resource)) continue;
        const ofType = notAsked.get(resource.type.name) ?? new Set();
        notAsked.set(resource.type.name, ofType.add(resource));
      }
      for (const { probe, verdict } of await questions.refused(probes)) {
        const finding = findingOf(program, verdict, probe, whereIs);
        findings.set(JSON.stringify([finding.file, finding.type, finding.resource, finding.message]), finding);
      }
    }
  });
  return {
    version: program.version,
    asked: asked.size,
    notAsked: new Map([...notAsked].map(([type, resources]) => [type, resources.size])),
    findings: [...findings.values()],
  };
}

/** Clusters first, as Envoy reads them. Of several variants of a name Envoy is asked about one: a client gets one. */
function probesOf(resources: readonly Resource[]): readonly Probe[] {
  const probes = new Map<string, Probe>();
  for (const resource of resources) {
    const probe = probeOf(resource);
    if (probe !== undefined && !probes.has(`${probe.as} ${probe.name}`)) probes.set(`${probe.as} ${probe.name}`, probe);
  }
  const all = [...probes.values()];
  return [...all.filter(({ as }) => as === "cluster"), ...all.filter(({ as }) => as === "listener")];
}

/** The resource that is refused, unless it is not known. */
interface RefusedProbe {
  readonly probe: Probe | undefined;
  readonly verdict: EnvoyVerdict;
}

/** Asks one Envoy again and again: it says only what is wrong first. */
class Questions {
  readonly #program: EnvoyProgram;
  readonly #file: string;
  readonly #deadline: number;
  /** Clusters that resources name, and the folder lacks: Envoy may have them in its bootstrap. */
  readonly #stubs = new Set<string>();

  constructor(program: EnvoyProgram, directory: string, deadline: number) {
    this.#program = program;
    this.#file = join(directory, "envoy.pb");
    this.#deadline = deadline;
  }

  /** The resources that it refuses. */
  async refused(probes: readonly Probe[]): Promise<readonly RefusedProbe[]> {
    const refused: RefusedProbe[] = [];
    let left = probes;
    while (refused.length < maxRefused) {
      const verdict = await this.#ask(left, probes);
      if (verdict.is === "taken") break;
      const found = verdict.is === "late" ? undefined : await this.#first(left, probes, verdict);
      if (found === undefined) return [...refused, { probe: undefined, verdict }];
      refused.push(found);
      if (found.probe === undefined) break;
      left = left.filter((probe) => probe !== found.probe);
    }
    return refused;
  }

  /** The first that it refuses. The more it has, the more it may refuse: so halves of halves find it. */
  async #first(left: readonly Probe[], all: readonly Probe[], whole: EnvoyVerdict): Promise<RefusedProbe | undefined> {
    let taken = 0;
    let refused = left.length;
    let verdict = whole;
    while (refused - taken > 1) {
      const middle = (taken + refused) >> 1;
      const said = await this.#ask(left.slice(0, middle), all);
      if (said.is === "late") return undefined;
      if (said.is === "taken") taken = middle;
      else {
        refused = middle;
        verdict = said;
      }
    }
    return { probe: left[refused - 1], verdict };
  }

  /** A cluster that is left out has a stub in its place, so that others can name it. */
  async #ask(probes: readonly Probe[], all: readonly Probe[]): Promise<EnvoyVerdict> {
    const here = new Set(probes);
    const missing = all.filter((probe) => probe.as === "cluster" && !here.has(probe)).map(({ name }) => name);
    const known = new Set(all.filter(({ as }) => as === "cluster").map(({ name }) => name));
    for (;;) {
      const timeoutMs = this.#deadline - performance.now();
      if (timeoutMs <= 0) return { is: "late" };
      await writeFile(this.#file, bootstrapOf(probes, [...missing, ...this.#stubs]), { mode: 0o600 });
      const verdict = await this.#program.validate(this.#file, timeoutMs);
      const lacks = verdict.is === "refused" ? missingCluster(verdict.reason) : undefined;
      if (lacks === undefined || known.has(lacks) || this.#stubs.has(lacks) || this.#stubs.size >= maxKept)
        return verdict;
      this.#stubs.add(lacks);
    }
  }
}

const unknownCluster = /\bunknown (?:[\w ]+ )?cluster '([^'\n]+)'/i;
const absentCluster = /\bcluster:? '?([^'\s]+)'? (?:does not exist|was not found|not found)/i;

/** The cluster that Envoy says it lacks. */
function missingCluster(reason: string): string | undefined {
  return unknownCluster.exec(reason)?.[1] ?? absentCluster.exec(reason)?.[1];
}

function findingOf(
  { version }: EnvoyProgram,
  verdict: EnvoyVerdict,
  probe: Probe | undefined,
  whereIs: (resource: Resource) => Where | undefined,
): Finding {
  // The Envoy that it is for may have it in its bootstrap.
  const isElsewhere = verdict.is === "refused" && verdict.reason.startsWith("Unknown static ");
  return {
    code: "XDSKIT_ENVOY_REFUSES",
    severity: isElsewhere ? "warning" : "error",
    message: textOf(version, verdict, probe),
    ...(probe && whereIs(probe.resource)),
    type: probe?.resource.type.name,
    resource: probe?.resource.name,
  };
}

function textOf(version: string, verdict: EnvoyVerdict, probe: Probe | undefined): string {
  switch (verdict.is) {
    case "late":
      return `Envoy ${version} did not decide about everything in time`;
    case "crashed":
      return `Envoy ${version} ends because of it: ${verdict.reason}`;
    case "refused": {
      const reason = probe === undefined ? verdict.reason : verdict.reason.replaceAll(probe.name, probe.resource.name);
      const text = redactErrorText(reason).replaceAll(/\s+/g, " ");
      return `Envoy ${version} refuses it: ${text.length > longestReason ? `${text.slice(0, longestReason)} …` : text}`;
    }
    default:
      return "";
  }
}

/** A folder that only this user can read: what is in it may have secrets. It is gone afterwards, also at a signal. */
async function inTemporaryFolder(use: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "xdskit-envoy-"));
  const end = (signal: NodeJS.Signals): void => {
    rmSync(directory, { recursive: true, force: true });
    process.off(signal, end);
    process.kill(process.pid, signal);
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, end);
  try {
    await use(directory);
  } finally {
    for (const signal of signals) process.off(signal, end);
    await rm(directory, { recursive: true, force: true });
  }
}

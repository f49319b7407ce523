import { readFileSync } from "node:fs";
import { parse } from "yaml";
import type { Judged } from "./judged.js";

type AnyJudged = Judged<{ readonly name: string }>;

/** How xdskit and Envoy disagree. */
export type Disagreement = "we refuse, Envoy takes" | "Envoy refuses, we take" | "Envoy ends";

/** Why they do: a line of `explained.yaml`. */
export interface Explanation {
  /** The line of docs/where-envoy-disagrees.md that says so. */
  readonly says: string;
  readonly kind: Disagreement;
  /** What Envoy gives as the reason, for `Envoy refuses, we take`. */
  readonly envoy?: RegExp;
  /** Names of cases. */
  readonly cases?: RegExp;
  /** A case that shows it. It is asked about in each run. Undefined for what mutated resources show. */
  readonly example?: string;
}

// It is read where it stands, since the build copies no YAML.
const fileOf = (name: string) => new URL(`../../src/corpus/${name}.yaml`, import.meta.url);

/** Reads `explained.yaml`, or what explains mutated resources beside it. */
export function readExplanations(name: "explained" | "explained-mutants" = "explained"): readonly Explanation[] {
  const lines = parse(readFileSync(fileOf(name), "utf8")) as readonly (Omit<Explanation, "envoy" | "cases"> & {
    readonly envoy?: readonly string[];
    readonly cases?: readonly string[];
  })[];
  const pattern = (parts: readonly string[] | undefined): RegExp | undefined =>
    parts === undefined ? undefined : new RegExp(parts.join("|"), "s");
  return lines.map(({ envoy, cases, ...line }) => ({
    ...line,
    ...(envoy === undefined ? {} : { envoy: pattern(envoy)! }),
    ...(cases === undefined ? {} : { cases: pattern(cases)! }),
  }));
}

/** Undefined where both say the same. */
export function disagreementOf({ ours, envoys }: AnyJudged): Disagreement | undefined {
  if (envoys.is === "crash" || envoys.is === "silent") return "Envoy ends";
  if (envoys.is === "taken") return ours === undefined ? undefined : "we refuse, Envoy takes";
  return ours === undefined ? "Envoy refuses, we take" : undefined;
}

/** The first line that explains it. */
export function explanationOf(
  judged: AnyJudged,
  kind: Disagreement,
  explanations: readonly Explanation[],
): Explanation | undefined {
  const reason = judged.envoys.is === "refused" ? judged.envoys.reason : "";
  return explanations.find(
    ({ kind: of, envoy, cases }) =>
      of === kind && (envoy === undefined || envoy.test(reason)) && (cases === undefined || cases.test(judged.of.name)),
  );
}

/** All that both say of a run. */
export interface Account {
  readonly taken: number;
  readonly refused: number;
  /** What Envoy takes and xdskit refuses, of what Envoy takes. */
  readonly refusedOfTaken: number;
  readonly lines: readonly { readonly explanation: Explanation; readonly judged: readonly AnyJudged[] }[];
  readonly unexplained: readonly AnyJudged[];
}

export function accountOf(judged: readonly AnyJudged[], explanations: readonly Explanation[]): Account {
  const byLine = new Map<Explanation, AnyJudged[]>(explanations.map((line) => [line, []]));
  const unexplained: AnyJudged[] = [];
  for (const each of judged) {
    const kind = disagreementOf(each);
    if (kind === undefined) continue;
    const line = explanationOf(each, kind, explanations);
    (line === undefined ? unexplained : byLine.get(line)!).push(each);
  }
  const taken = judged.filter(({ envoys }) => envoys.is === "taken");
  return {
    taken: taken.length,
    refused: judged.length - taken.length,
    refusedOfTaken: taken.filter(({ ours }) => ours !== undefined).length,
    lines: [...byLine].map(([explanation, members]) => ({ explanation, judged: members })),
    unexplained,
  };
}

/** The table that is printed. */
export function tableOf({ taken, refused, refusedOfTaken, lines, unexplained }: Account): string {
  const share = taken === 0 ? 0 : (100 * refusedOfTaken) / taken;
  const rows = lines
    .filter(({ judged }) => judged.length > 0)
    .sort((a, b) => b.judged.length - a.judged.length)
    .map(({ explanation: { kind, says }, judged }) => `${String(judged.length).padStart(6)}  ${kind}: ${says}`);
  const open = unexplained.map((each) => `        not explained: ${oneLine(each)}`);
  return [
    `Envoy takes ${taken} of ${taken + refused} resources; of those xdskit refuses ${refusedOfTaken} (${share.toFixed(2)} %).`,
    ...rows,
    ...open,
  ].join("\n");
}

/** Each disagreement in a line of its own, with its explanation in front: the text of `mutants-disagree.txt`. */
export function listOf({ lines, unexplained }: Account): readonly string[] {
  const explained = lines.flatMap(({ explanation: { kind, says }, judged }) =>
    judged.map(({ of }) => `${kind}: ${says} | ${of.name}`),
  );
  return [...explained, ...unexplained.map(({ of }) => `not explained | ${of.name}`)].sort();
}

/** The disagreements about the mutated resources that each run asks about. */
export function readDisagreements(): readonly string[] {
  const text = readFileSync(new URL("../../src/corpus/mutants-disagree.txt", import.meta.url), "utf8");
  return text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
}

/** A verdict in one line. */
export function oneLine({ of, ours, envoys }: AnyJudged): string {
  const reason = envoys.is === "refused" ? `refused: ${envoys.reason.replace(/\s+/g, " ").slice(0, 200)}` : envoys.is;
  return `${of.name} | xdskit: ${ours ?? "taken"} | Envoy: ${reason}`;
}

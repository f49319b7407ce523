import { listNames, type ResourceName } from "@xdskit/api";
import type { Wait } from "../model/basics/wait.js";

/** The input of a plan's text: a `Plan`, or its JSON. */
export interface PlanOutline {
  readonly stages: readonly StageOutline[];
  readonly waits: readonly WaitOutline[];
}

/** A stage of it. */
export interface StageOutline {
  readonly after: readonly WaitOutline[];
  readonly changes: readonly ChangeOutline[];
}

/** The changes of one type in a stage. */
export interface ChangeOutline {
  readonly type: TypeOutline;
  readonly added: readonly NamedInPlan[];
  readonly changed: readonly { readonly after: NamedInPlan }[];
  readonly removed: readonly NamedInPlan[];
}

/** A wait. */
export interface WaitOutline {
  readonly kind: Wait["kind"];
  readonly type: TypeOutline;
  readonly names: readonly ResourceName[];
  readonly for: { readonly type: TypeOutline; readonly names: readonly ResourceName[] } | undefined;
}

interface TypeOutline {
  readonly name: string;
}

interface NamedInPlan {
  readonly name: ResourceName;
}

/** How to write a plan. */
export interface PlanTextOptions {
  /** The number of names of a list to write; the others are counted. Default 10. */
  readonly names?: number | undefined;
  /**
   * Writes one name. Names come from files, and may hold characters that move a terminal's cursor. Default: as it is.
   */
  readonly name?: ((name: ResourceName) => string) | undefined;
}

/**
 * Writes a plan for people to read before a change: the resources that each stage adds (`+`), changes (`~`) and removes
 * (`-`), and the waits before it. Ends with a line end.
 *
 *     3 stages: 1 added, 1 changed, 1 removed
 *     1. at once
 *          + cluster b
 *     2. once cluster b is acknowledged (warm)
 *          ~ route main
 *     3. once the change of route main is acknowledged
 *          - cluster a
 */
export function formatPlan(plan: PlanOutline, options: PlanTextOptions = {}): string {
  const words = wordsOf(options);
  const lines = [total(plan)];
  const removed = new Set<string>();
  for (const [index, stage] of plan.stages.entries()) {
    lines.push(`${index + 1}. ${conditionsOf(stage, removed, words)}`);
    for (const [sign, type, names] of rowsOf(stage)) lines.push(`     ${sign} ${words(type, names, "counts")}`);
    for (const { type, removed: gone } of stage.changes)
      for (const { name } of gone) removed.add(keyOfName(type, name));
  }
  for (const wait of plan.waits) {
    const cause = wait.for === undefined ? "" : ` for ${words(wait.for.type, wait.for.names)}`;
    lines.push(`never: ${words(wait.type, wait.names)}, waiting in vain${cause}`);
  }
  return lines.map((line) => `${line}\n`).join("");
}

/** `cluster a`, `clusters a, b … and 7 more`; with `counts` `2 clusters: a, b`. */
type PlanWords = (type: TypeOutline, names: readonly ResourceName[], counts?: "counts") => string;

function wordsOf({ names: most, name: written = (name) => name }: PlanTextOptions): PlanWords {
  return ({ name: noun }, names, counts) => {
    const shown = listNames(names.map(written), most);
    if (names.length === 1) return `${noun} ${shown}`;
    const nouns = noun.endsWith("s") ? noun : `${noun}s`;
    return `${counts ? `${names.length} ${nouns}:` : nouns} ${shown}`;
  };
}

function total({ stages }: PlanOutline): string {
  if (stages.length === 0) return "nothing changes";
  const changes = stages.flatMap((stage) => stage.changes);
  const count = (of: (change: ChangeOutline) => readonly unknown[]) =>
    changes.reduce((sum, change) => sum + of(change).length, 0);
  const counts = [
    `${count(({ added }) => added)} added`,
    `${count(({ changed }) => changed)} changed`,
    `${count(({ removed }) => removed)} removed`,
  ];
  return `${stages.length} ${stages.length === 1 ? "stage" : "stages"}: ${counts.join(", ")}`;
}

type PlanRow = readonly [sign: "+" | "~" | "-", type: TypeOutline, names: readonly ResourceName[]];

function rowsOf({ changes }: StageOutline): readonly PlanRow[] {
  const rows: readonly PlanRow[] = [
    ...changes.map(({ type, added }): PlanRow => ["+", type, added.map(({ name }) => name)]),
    ...changes.map(({ type, changed }): PlanRow => ["~", type, changed.map(({ after }) => after.name)]),
    ...changes.map(({ type, removed }): PlanRow => ["-", type, removed.map(({ name }) => name)]),
  ];
  return rows.filter(([, , names]) => names.length > 0);
}

/** The waits before a stage, each kind and type once, with all its names. `removed`: the removals of earlier stages. */
function conditionsOf({ after }: StageOutline, removed: ReadonlySet<string>, words: PlanWords): string {
  const conditions = new Map<
    string,
    { readonly say: Say; readonly type: TypeOutline; readonly names: Set<ResourceName> }
  >();
  for (const wait of after) {
    if (wait.for === undefined) continue;
    const { type, names } = wait.for;
    for (const name of names) {
      const say = says[wait.kind === "break" && removed.has(keyOfName(type, name)) ? "gone" : wait.kind];
      const key = `${type.name} ${say("", false)}`;
      const known = conditions.get(key) ?? { say, type, names: new Set() };
      known.names.add(name);
      conditions.set(key, known);
    }
  }
  if (conditions.size === 0) return "at once";
  const reported = Array.from(conditions.values(), ({ say, type, names }) =>
    say(words(type, [...names]), names.size > 1),
  );
  return `once ${reported.join(", and ")}`;
}

type Say = (what: string, isMany: boolean) => string;

const says: { readonly [kind in Wait["kind"] | "gone"]: Say } = {
  make: (what, isMany) => `${what} ${isMany ? "are" : "is"} acknowledged (warm)`,
  break: (what) => `the change of ${what} is acknowledged`,
  gone: (what) => `the removal of ${what} is acknowledged`,
  linger: (what) => `connections of what ${what} was before have drained`,
  named: (what) => `no client asks for ${what} any more`,
};

function keyOfName(type: TypeOutline, name: ResourceName): string {
  return `${type.name} ${name}`;
}

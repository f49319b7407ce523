import type { Random } from "../random.js";
import { type Edit, edit, type SampleGroup } from "../sample-world.js";

/** The resources on the servers of a pair test, and their changes. */
export const pairTypes = ["cluster", "endpoint", "listener", "route", "secret"] as const;
const names = ["a", "b", "c", "d"];
/** Heartbeats are due every second, or every few seconds. */
const ttls = ["~10s", "~60s"];

/** The names that a client may ask for. */
export const askable: readonly string[] = [...names, "z", "*"];

/** One atomic change; the first one brings all resources. */
export function randomChange(
  before: SampleGroup | undefined,
  random: Random,
  say: (line: string) => void,
): SampleGroup {
  const edits = new Map<string, Edit>();
  for (let count = before === undefined ? 10 : 1 + random.int(4); count > 0; count--) {
    const type = random.pick(pairTypes);
    const name = random.pick(names);
    const isGone = before !== undefined && random.chance(0.3);
    const label = random.chance(0.15) ? `bad${random.int(2)}` : `${random.int(3)}`;
    // Good resources beside a bad one in a full state get no heartbeats (rule 17), and would end.
    const ttl = !["cluster", "listener"].includes(type) && random.chance(0.2) ? random.pick(ttls) : "";
    edits.set(`${type} ${name}`, { type, name, content: isGone ? undefined : `${label}${ttl}` });
  }
  return apply(before, [...edits.values()], say);
}

/** Nothing is bad any more. */
export function fix(before: SampleGroup, say: (line: string) => void): SampleGroup {
  const edits = [...before.contents].flatMap(([type, contents]) =>
    [...contents]
      .filter(([, content]) => content.startsWith("bad"))
      .map(([name]): Edit => ({ type, name, content: "fixed" })),
  );
  return edits.length === 0 ? before : apply(before, edits, say);
}

function apply(before: SampleGroup | undefined, edits: readonly Edit[], say: (line: string) => void): SampleGroup {
  say(`set ${edits.map(({ type, name, content }) => `${type} ${name}=${content ?? "∅"}`).join("; ")}`);
  return edit(before, edits);
}

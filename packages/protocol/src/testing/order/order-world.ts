import type { Random } from "../random.js";
import { type Edit, edit, type SampleGroup } from "../sample-world.js";

const clusters = ["c0", "c1", "c2", "c3", "c4"];
const endpoints = ["e0", "e1", "e2"];
const routes = ["r0", "r1", "r2"];
const listeners = ["l0", "l1"];

/** A client rejects resources with this label. */
export const bad = "bad";

/** The names in a content: `1->a,b`. */
export function namedBy(content: string): readonly string[] {
  return (content.split("->")[1] ?? "").split(",").filter((name) => name !== "" && name !== "static");
}

export function isBad(content: string): boolean {
  return content.startsWith(bad);
}

/** Some of a list, at least one. */
function few(random: Random, list: readonly string[], most: number): readonly string[] {
  const found = random.some(list, most / list.length).slice(0, most);
  return found.length === 0 ? [random.pick(list)] : found;
}

/** A configuration in which every named resource exists. With `faults`, clients reject some of the resources. */
export function closedWorld(random: Random, before: SampleGroup | undefined, faults: boolean): SampleGroup {
  const next = new Map<string, Map<string, string>>();
  const count = random.int(1_000_000);
  const old = (type: string, name: string) => before?.contents.get(type)?.get(name);
  const put = (type: string, name: string, refers: readonly string[]) => {
    const known = old(type, name);
    // A resource that is not changed on purpose stays as it was, if it can. No content comes twice: for a name that a
    // client did not ask for, nobody could tell which of two equal contents it has.
    const label = `${faults && random.chance(0.06) ? bad : ""}${count}`;
    const content = refers.length === 0 ? label : `${label}->${refers.join(",")}`;
    const stays = known !== undefined && random.chance(0.6) && namedBy(known).join() === refers.join();
    const names = next.get(type) ?? new Map<string, string>();
    next.set(type, names.set(name, stays && (faults || !isBad(known)) ? known : content));
  };
  const chosen = few(random, clusters, 3);
  for (const name of chosen) {
    const service = random.chance(0.2) ? "static" : random.pick(endpoints);
    put("cluster", name, [service]);
    if (service !== "static") put("endpoint", service, []);
  }
  const configured = few(random, routes, 2);
  for (const name of configured) put("route", name, few(random, chosen, 2));
  for (const name of new Set(["l0", ...few(random, listeners, 2)])) put("listener", name, few(random, configured, 2));
  const edits: Edit[] = [];
  for (const type of ["cluster", "endpoint", "route", "listener"]) {
    for (const [name, content] of next.get(type) ?? []) edits.push({ type, name, content });
    for (const name of before?.contents.get(type)?.keys() ?? []) {
      if (!next.get(type)?.has(name)) edits.push({ type, name, content: undefined });
    }
  }
  return edit(before, edits);
}

/** The same without the resources that clients reject. */
export function fixed(before: SampleGroup): SampleGroup {
  const edits: Edit[] = [];
  for (const [type, names] of before.contents) {
    for (const [name, content] of names) {
      if (isBad(content)) edits.push({ type, name, content: content.replace(bad, "") });
    }
  }
  return edit(before, edits);
}

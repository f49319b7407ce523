import type { ProblemEntry } from "../contract/answers.js";
import { maxInEntry, maxInList } from "../contract/limits.js";

/** The kinds of which each finding makes an entry. */
const titles: Partial<Record<ProblemEntry["kind"], (what: string) => string>> = {
  dangling: (what) => `${what} name what is not there`,
  "change-refused": (what) => `${what} are refused for one reason`,
  warning: (what) => `${what}: the same warning`,
};

/** Findings with one cause are one problem, for however many resources: people look at it once. */
export function byCause(entries: readonly ProblemEntry[]): readonly ProblemEntry[] {
  const found = new Map<string, [ProblemEntry, ...ProblemEntry[]]>();
  for (const [index, one] of entries.entries()) {
    const { kind, severity, code, names, detail } = one;
    // The same field of another item of a list is no other cause.
    const cause = JSON.stringify([kind, severity, code, names.length > 0, detail.replace(/\[\d+\]/g, "[]")]);
    const id = kind in titles ? cause : `${index}`;
    const known = found.get(id);
    if (known === undefined) found.set(id, [one]);
    else known.push(one);
  }
  return Array.from(found, ([id, all]) => (all.length === 1 ? all[0] : together(id, all)));
}

function together(id: string, all: readonly [ProblemEntry, ...ProblemEntry[]]): ProblemEntry {
  const [first] = all;
  const types = new Set(all.map(({ type }) => type));
  const names = [...new Set(all.flatMap((one) => one.names))];
  const what = `${all.length} ${names.length === 0 ? "places" : types.size === 1 ? `${first.type} resources` : "resources"}`;
  return {
    ...first,
    id: `cause ${id}`,
    title: titles[first.kind]?.(what) ?? first.title,
    count: all.length,
    type: types.size === 1 ? first.type : null,
    names: names.slice(0, maxInEntry),
    groups: [...new Set(all.flatMap(({ groups }) => groups))].slice(0, maxInList),
  };
}

import type { DiffLine } from "@xdskit/admin/line-diff";

/** A row of two texts beside each other; a side is undefined where the other one has a line more. */
export interface BesideRow {
  readonly left: DiffLine | undefined;
  readonly right: DiffLine | undefined;
}

/** The lines of a difference in two columns: what was removed stands beside what was added in its place. */
export function besideRows(lines: readonly DiffLine[]): readonly BesideRow[] {
  const rows: BesideRow[] = [];
  let removed: DiffLine[] = [];
  let added: DiffLine[] = [];
  const flush = () => {
    for (let index = 0; index < Math.max(removed.length, added.length); index += 1)
      rows.push({ left: removed[index], right: added[index] });
    [removed, added] = [[], []];
  };
  for (const line of lines) {
    if (line.kind === "removed") removed.push(line);
    else if (line.kind === "added") added.push(line);
    else {
      flush();
      rows.push({ left: line, right: line });
    }
  }
  flush();
  return rows;
}

/** The places at most so far from one that differs. */
export function placesNear(count: number, differs: (place: number) => boolean, context: number): ReadonlySet<number> {
  const near = new Set<number>();
  for (let place = 0; place < count; place += 1) {
    if (!differs(place)) continue;
    for (let other = Math.max(0, place - context); other <= Math.min(count - 1, place + context); other += 1)
      near.add(other);
  }
  return near;
}

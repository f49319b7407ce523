/** A line of a text before, after, or of both. */
export interface DiffLine {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
  /** Its number on either side, from 1; undefined: it is not there. */
  readonly left: number | undefined;
  readonly right: number | undefined;
}

/** More differences are not looked for: the texts are shown as replaced. */
const maxSteps = 1_000;

/** The shortest way from one list of lines to another (Myers 1986). */
export function diffLines(from: readonly string[], to: readonly string[]): readonly DiffLine[] {
  let start = 0;
  while (start < from.length && start < to.length && from[start] === to[start]) start += 1;
  let end = 0;
  while (
    end < from.length - start &&
    end < to.length - start &&
    from[from.length - 1 - end] === to[to.length - 1 - end]
  )
    end += 1;
  const left = from.slice(start, from.length - end);
  const right = to.slice(start, to.length - end);
  const kinds = [
    ...Array<DiffLine["kind"]>(start).fill("same"),
    ...(editsOf(left, right) ?? replaced(left, right)),
    ...Array<DiffLine["kind"]>(end).fill("same"),
  ];
  let l = 0;
  let r = 0;
  return kinds.map((kind) => {
    if (kind === "added") return { kind, text: to[r] ?? "", left: undefined, right: ++r };
    if (kind === "removed") return { kind, text: from[l] ?? "", left: ++l, right: undefined };
    return { kind, text: from[l] ?? "", left: ++l, right: ++r };
  });
}

function replaced(left: readonly string[], right: readonly string[]): readonly DiffLine["kind"][] {
  return [...left.map(() => "removed" as const), ...right.map(() => "added" as const)];
}

/** Undefined: there are too many differences. */
function editsOf(left: readonly string[], right: readonly string[]): readonly DiffLine["kind"][] | undefined {
  const most = left.length + right.length;
  /** How far each diagonal came, for each number of differences. */
  const traces: Map<number, number>[] = [];
  let reach = new Map<number, number>([[1, 0]]);
  for (let steps = 0; steps <= Math.min(most, maxSteps); steps += 1) {
    traces.push(new Map(reach));
    for (let k = -steps; k <= steps; k += 2) {
      const isDown = k === -steps || (k !== steps && at(reach, k - 1) < at(reach, k + 1));
      let x = isDown ? at(reach, k + 1) : at(reach, k - 1) + 1;
      while (x < left.length && x - k < right.length && left[x] === right[x - k]) x += 1;
      reach = reach.set(k, x);
      if (x >= left.length && x - k >= right.length) return walkedBack(traces, left.length, right.length);
    }
  }
  return undefined;
}

function walkedBack(traces: readonly Map<number, number>[], x: number, y: number): readonly DiffLine["kind"][] {
  const kinds: DiffLine["kind"][] = [];
  for (let steps = traces.length - 1; steps >= 0; steps -= 1) {
    const reach = traces[steps] as Map<number, number>;
    const k = x - y;
    const isDown = k === -steps || (k !== steps && at(reach, k - 1) < at(reach, k + 1));
    const before = isDown ? k + 1 : k - 1;
    const fromX = at(reach, before);
    const fromY = fromX - before;
    while (x > fromX && y > fromY) {
      kinds.push("same");
      x -= 1;
      y -= 1;
    }
    if (steps === 0) break;
    kinds.push(isDown ? "added" : "removed");
    x = fromX;
    y = fromY;
  }
  return kinds.reverse();
}

function at(reach: ReadonlyMap<number, number>, k: number): number {
  return reach.get(k) ?? -1;
}

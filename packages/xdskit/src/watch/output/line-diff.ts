/** One line of a difference: `+` is new, `-` is gone, ` ` is in both. */
export interface DiffLine {
  readonly sign: "+" | "-" | " ";
  readonly text: string;
}

/** The search stops at so many differences: then everything between the first and the last counts as replaced. */
const mostEdits = 500;

/**
 * A smallest difference between two texts, by lines (Myers). Costs the lines and the square of the differences, up to a
 * limit.
 */
export function lineDiff(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < most - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  const same = (text: string): DiffLine => ({ sign: " ", text });
  return [
    ...before.slice(0, head).map(same),
    ...middle(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...before.slice(before.length - tail).map(same),
  ];
}

function middle(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  const trace = before.length === 0 || after.length === 0 ? undefined : search(before, after);
  return trace === undefined ? replacedLines(before, after) : walkBack(before, after, trace);
}

function replacedLines(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  return [
    ...before.map((text): DiffLine => ({ sign: "-", text })),
    ...after.map((text): DiffLine => ({ sign: "+", text })),
  ];
}

/** How far each diagonal gets with so many edits: one array for each edit. Undefined if there are too many. */
function search(before: readonly string[], after: readonly string[]): readonly Int32Array[] | undefined {
  const trace: Int32Array[] = [];
  let reach = new Int32Array(3);
  for (let edits = 0; edits <= mostEdits; edits += 1) {
    const next = new Int32Array(2 * edits + 3);
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = edits === 0 ? 0 : step(reach, edits, diagonal);
      let y = x - diagonal;
      while (x < before.length && y < after.length && before[x] === after[y]) {
        x += 1;
        y += 1;
      }
      next[diagonal + edits + 1] = x;
      if (x >= before.length && y >= after.length) {
        trace.push(next);
        return trace;
      }
    }
    trace.push(next);
    reach = next;
  }
  return undefined;
}

/** Where a diagonal starts: one line after the better of its neighbours, which one edit less has reached. */
function step(reach: Int32Array, edits: number, diagonal: number): number {
  const below = reach[diagonal - 1 + edits] ?? 0;
  const above = reach[diagonal + 1 + edits] ?? 0;
  return fromAbove(edits, diagonal, below, above) ? above : below + 1;
}

/** Whether a line was added, and not removed. */
function fromAbove(edits: number, diagonal: number, below: number, above: number): boolean {
  return diagonal === -edits || (diagonal !== edits && below < above);
}

function walkBack(
  before: readonly string[],
  after: readonly string[],
  trace: readonly Int32Array[],
): readonly DiffLine[] {
  const lines: DiffLine[] = [];
  let [x, y] = [before.length, after.length];
  const common = (until: number) => {
    for (; x > until; x -= 1, y -= 1) lines.push({ sign: " ", text: before[x - 1] ?? "" });
  };
  for (let edits = trace.length - 1; edits > 0; edits -= 1) {
    const reach = trace[edits - 1] ?? new Int32Array();
    const diagonal = x - y;
    const below = reach[diagonal - 1 + edits] ?? 0;
    const above = reach[diagonal + 1 + edits] ?? 0;
    if (fromAbove(edits, diagonal, below, above)) {
      common(above);
      lines.push({ sign: "+", text: after[y - 1] ?? "" });
      y -= 1;
    } else {
      common(below + 1);
      lines.push({ sign: "-", text: before[x - 1] ?? "" });
      x -= 1;
    }
  }
  common(0);
  return lines.reverse();
}

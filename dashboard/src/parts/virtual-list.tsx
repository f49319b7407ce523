import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** Rows before and after what is seen. */
const beyond = 6;
/** How many rows are exchanged at once. */
const step = 4;
/** What stands over the first row that is seen: the page's head and the table's, in pixels. */
const headHeight = 90;

/**
 * A long list of which only the rows that are seen exist. It scrolls with the page, so that there is one scrollbar. All
 * rows have one height, in pixels.
 */
export function VirtualList({
  count,
  rowHeight,
  row,
  head,
  label,
  seen,
  focus,
}: {
  readonly count: number;
  readonly rowHeight: number;
  /** `place` is the row's key: a row that is out of sight gives its elements to the one that comes into sight. */
  row(index: number, place: number): VNode;
  readonly head?: ComponentChildren;
  readonly label: string;
  /** Is told which rows are seen. */
  seen?(first: number, last: number): void;
  /** The row that must be seen; undefined: any. */
  readonly focus?: number | undefined;
}) {
  const place = useRef<HTMLDivElement>(null);
  const [[first, last], setWindow] = useState<readonly [number, number]>([0, 0]);
  useEffect(() => {
    const look = () => {
      const element = place.current;
      if (element === null) return;
      const top = -element.getBoundingClientRect().top;
      const drawn = Math.min(count, Math.ceil(innerHeight / rowHeight) + 2 * beyond);
      const wanted = Math.floor(top / rowHeight / step) * step - beyond + step / 2;
      const from = Math.max(0, Math.min(count - drawn, wanted));
      // Most scrolling stays within what is drawn already.
      setWindow((before) => (before[0] === from && before[1] === from + drawn ? before : [from, from + drawn]));
    };
    look();
    // What stands above may grow, too.
    const observer = new ResizeObserver(look);
    observer.observe(document.body);
    addEventListener("scroll", look, { passive: true });
    addEventListener("resize", look);
    return () => {
      observer.disconnect();
      removeEventListener("scroll", look);
      removeEventListener("resize", look);
    };
  }, [count, rowHeight]);
  useEffect(() => {
    const element = place.current;
    if (element === null || focus === undefined) return;
    const top = element.getBoundingClientRect().top + focus * rowHeight;
    if (top < headHeight) scrollBy(0, top - headHeight);
    else if (top + 2 * rowHeight > innerHeight) scrollBy(0, top + 2 * rowHeight - innerHeight);
  }, [focus, rowHeight]);
  useEffect(() => seen?.(first, last), [first, last, seen]);
  const drawn = last - first;
  const rows = Array.from({ length: drawn }, (_, index) => row(first + index, (first + index) % drawn));
  return (
    <div class="virtual" role="table" aria-label={label} aria-rowcount={count + 1}>
      {head}
      <div class="virtual-rows" role="rowgroup" ref={place} style={{ height: `${count * rowHeight}px` }}>
        <div class="virtual-window" role="presentation" style={{ transform: `translateY(${first * rowHeight}px)` }}>
          {rows}
        </div>
      </div>
    </div>
  );
}

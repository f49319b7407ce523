import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** Rows before and after what is seen. */
const beyond = 8;
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
  row(index: number): VNode;
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
      const from = Math.max(0, Math.min(count, Math.floor(top / rowHeight) - beyond));
      const to = Math.max(from, Math.min(count, Math.ceil((top + innerHeight) / rowHeight) + beyond));
      // Most scrolling stays within what is drawn already.
      setWindow((before) => (before[0] === from && before[1] === to ? before : [from, to]));
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
  const rows = Array.from({ length: last - first }, (_, index) => row(first + index));
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

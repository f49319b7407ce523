import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** Rows before and after what is seen. */
const beyond = 8;

/** A long list of which only the rows that are seen exist. All have one height, in pixels. */
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
  const [[top, height], setWindow] = useState<readonly [number, number]>([0, 600]);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const look = () => setWindow([element.scrollTop, element.clientHeight]);
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, []);
  useEffect(() => {
    const element = place.current;
    if (element === null || focus === undefined) return;
    const from = focus * rowHeight;
    if (from < element.scrollTop) element.scrollTop = from;
    else if (from + 2 * rowHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = from + 2 * rowHeight - element.clientHeight;
  }, [focus, rowHeight]);
  const first = Math.max(0, Math.floor(top / rowHeight) - beyond);
  const last = Math.min(count, Math.ceil((top + height) / rowHeight) + beyond);
  useEffect(() => seen?.(first, last), [first, last, seen]);
  const rows = Array.from({ length: Math.max(0, last - first) }, (_, index) => row(first + index));
  return (
    <div class="virtual" ref={place} role="table" aria-label={label} aria-rowcount={count + 1}>
      {head}
      <div class="virtual-rows" role="rowgroup" style={{ height: `${count * rowHeight}px` }}>
        <div class="virtual-window" role="presentation" style={{ transform: `translateY(${first * rowHeight}px)` }}>
          {rows}
        </div>
      </div>
    </div>
  );
}

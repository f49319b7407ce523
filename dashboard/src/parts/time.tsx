import { useEffect, useState } from "preact/hooks";
import { ago, exact, lasting, until } from "../text/times.js";

/** How times are shown everywhere on the page. */
export type TimeStyle = "relative" | "exact";

const key = "xdskit-times";
let style: TimeStyle = localStorage.getItem(key) === "exact" ? "exact" : "relative";
const styled = new Set<() => void>();

/** The other way to show times; the browser remembers it. */
export function changeTimeStyle(): void {
  style = style === "exact" ? "relative" : "exact";
  localStorage.setItem(key, style);
  for (const show of styled) show();
}

/** How times are shown now. */
export function useTimeStyle(): TimeStyle {
  const [shown, setShown] = useState(style);
  useEffect(() => {
    const show = () => setShown(style);
    show();
    styled.add(show);
    return () => void styled.delete(show);
  }, []);
  return shown;
}

/** A time as people read it, renewed each second; the other way to say it is shown on hover. */
export function Time({ at }: { readonly at: string | number }) {
  const then = typeof at === "number" ? at : Date.parse(at);
  const now = useNow();
  const [relative, whole] = [then > now ? until(then, now) : ago(then, now), exact(then)];
  const isExact = useTimeStyle() === "exact";
  return (
    <time dateTime={new Date(then).toISOString()} title={isExact ? relative : whole}>
      {isExact ? whole : relative}
    </time>
  );
}

/** A time that lies ahead, or far away. */
export function Exact({ at }: { readonly at: string }) {
  return <time dateTime={at}>{exact(Date.parse(at))}</time>;
}

/** How long something takes; `–` where that is not known. */
export function Duration({ ms }: { readonly ms: number | null }) {
  return <span class="number">{ms === null ? "–" : lasting(ms)}</span>;
}

const clocks = new Set<() => void>();

setInterval(() => {
  for (const clock of clocks) clock();
}, 1_000);

/** The time by now; one timer serves all. */
function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const tick = () => setNow(Date.now());
    clocks.add(tick);
    return () => void clocks.delete(tick);
  }, []);
  return now;
}

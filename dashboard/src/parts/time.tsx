import { useEffect, useState } from "preact/hooks";
import { ago, exact, lasting } from "../text/times.js";

/** A time as people read it, renewed each second; the exact one is shown on hover. */
export function Time({ at }: { readonly at: string | number }) {
  const then = typeof at === "number" ? at : Date.parse(at);
  const now = useNow();
  return (
    <time dateTime={new Date(then).toISOString()} title={exact(then)}>
      {ago(then, now)}
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

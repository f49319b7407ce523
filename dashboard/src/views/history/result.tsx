import type { Arrival } from "../../api/types.js";
import { useLive } from "../../api/use-live.js";
import { signOf } from "../../parts/state.js";
import { numberText } from "../../text/counts.js";

/** In one line how far clients are with a revision. */
export function Result({ path }: { readonly path: string }) {
  const { data } = useLive<Arrival>(path);
  if (data === undefined) return null;
  const { acknowledged, rejected, pending } = data.counts;
  const parts = [
    ["synced", acknowledged, "acknowledged"],
    ["pending", pending, "pending"],
    ["rejected", rejected, "rejected"],
  ] as const;
  const told = parts.filter(([, count]) => count > 0);
  if (told.length === 0) return <small>asked for by nobody</small>;
  return (
    <>
      {told.map(([state, count, word]) => (
        <span key={state} class={`state state-${state}`} title={word}>
          <span aria-hidden="true">{signOf(state)}</span> {numberText(count)}
          <span class="hidden">{word}</span>{" "}
        </span>
      ))}
    </>
  );
}

import type { ArrivalJson } from "../../api/types.js";
import { useLive } from "../../api/use-live.js";
import { signOf } from "../../parts/state.js";
import { numberText } from "../../text/counts.js";

/** In one line how far clients are with a revision. */
export function Result({
  path,
  isLive,
  isHead,
}: {
  readonly path: string;
  readonly isLive: boolean;
  readonly isHead: boolean;
}) {
  const { data, error } = useLive<ArrivalJson>(path, isLive ? "always" : "once");
  if (data === undefined) return error === undefined ? <small>…</small> : <small>not known</small>;
  const { acknowledged, rejected, pending, "held-back": heldBack } = data.counts;
  const parts = [
    ["rejected", rejected, "rejected"],
    ["pending", pending, "pending"],
    ["held-back", heldBack, "held back"],
    ["synced", acknowledged, "acknowledged"],
  ] as const;
  const shown = parts.filter(([, count]) => count > 0);
  // What was replaced since is asked for by nobody, too.
  if (shown.length === 0) return <small>{isHead ? "asked for by nobody" : "no node runs it now"}</small>;
  return (
    <>
      {shown.map(([state, count, word]) => (
        <span key={state} class={`state state-${state}`}>
          <span aria-hidden="true">{signOf(state)}</span> {numberText(count)} {word}
        </span>
      ))}
    </>
  );
}

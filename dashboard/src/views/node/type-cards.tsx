import type { NodeRow } from "../../api/types.js";
import { State } from "../../parts/state.js";
import { Duration } from "../../parts/time.js";
import { linkTo } from "../../router.js";
import { counted } from "../../text/counts.js";

/**
 * A card for each type that a node asks for, with its state. A card shows the resources of its type, and a second click
 * shows all again.
 */
export function TypeCards({ row, type: chosen }: { readonly row: NodeRow; readonly type: string }) {
  return (
    <ul class="type-cards" aria-label="Types">
      {row.types.map(({ type, state, resources, behind, lagMs, why }) => (
        <li key={type} class={`type-card type-card-${state}`}>
          <p>
            <a
              href={linkTo("node", [row.id], type === chosen ? {} : { type })}
              aria-current={type === chosen ? "true" : undefined}
            >
              {type}
            </a>{" "}
            <State state={state} />
          </p>
          <p class="quiet small-text">
            {counted(resources, "resource")}
            {behind === 0 ? "" : `, ${behind} behind`}
            {lagMs === null ? null : (
              <>
                , ACK after <Duration ms={lagMs} />
              </>
            )}
          </p>
          {why === "" ? null : (
            <p class="type-why small-text" title={why}>
              {why}
            </p>
          )}
        </li>
      ))}
    </ul>
  );
}

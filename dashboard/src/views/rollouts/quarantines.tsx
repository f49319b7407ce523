import { useState } from "preact/hooks";
import type { QuarantineJson } from "../../api/types.js";
import { linkTo } from "../../router.js";
import { counted } from "../../text/counts.js";
import { LiftQuarantine } from "./lift-quarantine.js";

/** More are not drawn. */
const maxShown = 50;

/** Contents that nobody gets, and why. */
export function Quarantines({
  quarantines,
  renew,
}: {
  readonly quarantines: readonly QuarantineJson[];
  renew(): void;
}) {
  const [lifted, setLifted] = useState<QuarantineJson | undefined>(undefined);
  if (quarantines.length === 0 && lifted === undefined) return null;
  return (
    <section class="panel" aria-label="Quarantine">
      <h2>{counted(quarantines.length, "content")} in quarantine</h2>
      <ul class="findings">
        {quarantines.slice(0, maxShown).map((quarantine) => {
          const { group, type, name, cause, message } = quarantine;
          return (
            <li key={`${group} ${type} ${name}`}>
              <a href={linkTo("config", [group, type, name])}>
                <b>{name}</b>
              </a>{" "}
              <small>{`${type} of ${group}: ${message || cause}`}</small>{" "}
              <button type="button" class="small" onClick={() => setLifted(quarantine)}>
                Lift
              </button>
            </li>
          );
        })}
      </ul>
      {quarantines.length > maxShown ? <p class="quiet">and {quarantines.length - maxShown} more</p> : null}
      {lifted === undefined ? null : (
        <LiftQuarantine quarantine={lifted} done={renew} close={() => setLifted(undefined)} />
      )}
    </section>
  );
}

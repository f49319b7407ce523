import type { SourceList } from "../../api/types.js";
import { useLive } from "../../api/use-live.js";
import { Findings } from "../../parts/message.js";
import { Time } from "../../parts/time.js";
import { counted } from "../../text/counts.js";

const signs: Readonly<Record<string, string>> = { applied: "●", connected: "●", refused: "✕", partial: "◐" };

/** What the sources have that is not served, and why. */
export function Sources() {
  const { data } = useLive<SourceList>("sources");
  return (
    <>
      {data?.silent?.map(({ replica, reason }) => (
        <p class="notice" key={replica}>
          {replica} does not say what its sources are: {reason}
        </p>
      ))}
      {data?.sources.map(({ name, replica, state, files, findings, lastApplied }) => {
        const errors = findings.filter(({ severity }) => severity === "error");
        const kind = signs[state] === "●" ? "synced" : errors.length > 0 ? "rejected" : "pending";
        return (
          <section class="panel" key={`${replica} ${name}`} aria-label={name}>
            <p>
              <b>{name}</b> {replica === undefined ? "" : <span class="quiet">at {replica} </span>}
              <span class={`state state-${kind}`}>
                <span aria-hidden="true">{signs[state] ?? "◌"}</span> {state}
              </span>{" "}
              <span class="quiet">
                {files === undefined ? "" : `${counted(files, "file")}, `}
                {lastApplied === null ? "nothing was applied yet" : <>applied {<Time at={lastApplied} />}</>}
              </span>
            </p>
            <Findings findings={errors.slice(0, 20)} />
          </section>
        );
      })}
    </>
  );
}

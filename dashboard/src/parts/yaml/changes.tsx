import type { ChangedResource, GroupStages } from "../../api/types.js";
import { counted } from "../../text/counts.js";
import { typeName } from "../../text/type-names.js";
import { YamlDiff } from "./yaml-view.js";

/** More are not drawn. */
const maxShown = 200;
/** The first ones are open. */
const openFirst = 3;

/** What becomes of each resource. */
export function Changes({ changes, total }: { readonly changes: readonly ChangedResource[]; readonly total: number }) {
  if (changes.length === 0) return <p class="quiet">Nothing differs.</p>;
  return (
    <>
      {changes.slice(0, maxShown).map((one, index) => (
        <details class="changed" key={`${one.type} ${one.key ?? one.name}`} open={index < openFirst}>
          <summary>
            <span class={`change-${one.change}`}>{one.change}</span> <b>{one.name}</b>{" "}
            <small>{typeName(one.type)}</small>
          </summary>
          <Served change={one} />
        </details>
      ))}
      {total > maxShown ? <p class="quiet">{counted(total - maxShown, "more", "more")}</p> : null}
    </>
  );
}

/** What nodes are served of it, where that is not what the layer has; otherwise the difference in the layer. */
function Served({ change: { change, name, before, after, served } }: { readonly change: ChangedResource }) {
  const label = `${change}: ${name}`;
  if (served === undefined) return <YamlDiff before={before} after={after} label={label} />;
  if (served.length === 0)
    return (
      <>
        <p class="notice">No node is served that: another layer has it, too, or no group has this layer.</p>
        <YamlDiff before={before} after={after} label={`${label}, in the layer`} />
      </>
    );
  return (
    <>
      {served.map((one) => (
        <section key={one.groups.join()}>
          <p class="quiet">
            {one.before === null ? "New" : one.after === null ? "Gone" : "Changed"} for the nodes of{" "}
            {one.groups.join(", ")}, which have it from another layer, too.
          </p>
          <YamlDiff before={one.before} after={one.after} label={`${label} for ${one.groups.join(", ")}`} />
        </section>
      ))}
    </>
  );
}

/** In which order the clients of each group get a change, and in which steps it goes through them. */
export function Stages({ stages }: { readonly stages: readonly GroupStages[] }) {
  return (
    <>
      {stages.map(({ group, stages: steps, waits, rollout }) => (
        <section key={group}>
          <h3>
            Group {group}: {counted(steps.length, "stage")}
          </h3>
          {rollout === undefined ? null : (
            <p>
              <b>Rollout:</b> {rollout.words}.
            </p>
          )}
          <ol class="stages">
            {steps.map((stage, index) => (
              <li key={index}>
                <StageChanges stage={stage} />
              </li>
            ))}
          </ol>
          {waits.length === 0 ? null : (
            <p class="missing">
              Never sent, since it waits for itself: {waits.flatMap(({ names }) => names).join(", ")}
            </p>
          )}
        </section>
      ))}
    </>
  );
}

/** What a stage brings, and what it waits for. */
export function StageChanges({
  stage: { after, changes },
}: {
  readonly stage: Pick<GroupStages["stages"][number], "after" | "changes">;
}) {
  const awaited = [...new Set(after.map(({ for: cause, type }) => cause?.type ?? type))];
  return (
    <>
      {changes.map((change) => (
        <p key={change.type}>
          <b>{typeName(change.type)}</b> {namesOf("adds", change.added)} {namesOf("changes", change.changed)}{" "}
          {namesOf("removes", change.removed)}
        </p>
      ))}
      {awaited.length === 0 ? null : <small>after {awaited.map((type) => `${type} is acknowledged`).join(", ")}</small>}
    </>
  );
}

function namesOf(what: string, names: readonly string[]): string {
  if (names.length === 0) return "";
  const [first = "", ...rest] = names;
  return `${what} ${rest.length < 3 ? names.join(", ") : `${first} and ${rest.length} more`}`;
}

import { useState } from "preact/hooks";
import { pathOf } from "../../api/request.js";
import type { Layer, Revision } from "../../api/types.js";
import { useLive } from "../../api/use-live.js";
import { Empty, Failure, Loading } from "../../parts/message.js";
import { Select } from "../../parts/search.js";
import { Time } from "../../parts/time.js";
import { go, linkTo, type Place, replaceQuery } from "../../router.js";
import { causeText } from "./cause.js";
import { DiffView } from "./diff-view.js";
import { Result } from "./result.js";
import { RevisionView } from "./revision-view.js";

/** What every layer was, and by whom and why it changed. */
export function HistoryView({ place: { parts, query } }: { readonly place: Place }) {
  const [id] = parts;
  const [from, to] = [query.get("from"), query.get("to")];
  if (id !== undefined) return <RevisionView id={id} />;
  if (from !== null && to !== null) return <DiffView from={from} to={to} />;
  return <RevisionList layer={query.get("layer") ?? ""} />;
}

function RevisionList({ layer }: { readonly layer: string }) {
  const layers = useLive<{ readonly layers: readonly Layer[] }>("layers");
  const query = new URLSearchParams({ limit: "100", ...(layer === "" ? {} : { layer }) });
  const { data, error } = useLive<{ readonly revisions: readonly Revision[] }>(`revisions?${query}`);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  if (data === undefined) return error === undefined ? <Loading /> : <Failure error={error} />;
  const { revisions } = data;
  const heads = new Set(layers.data?.layers.map(({ head }) => head?.id));
  // The older one is the first.
  const pair = revisions.filter((one) => chosen.includes(one.id)).reverse();
  const [a, b] = pair;
  const choose = (id: string) =>
    setChosen((before) => (before.includes(id) ? before.filter((one) => one !== id) : [...before, id].slice(-2)));
  return (
    <>
      <h1>History</h1>
      <div class="filters">
        <Select
          label="Layer"
          value={layer}
          options={["", ...(layers.data?.layers.map(({ name }) => name) ?? [])]}
          change={(name) => replaceQuery({ layer: name })}
        />
        <button
          type="button"
          disabled={a === undefined || b === undefined || a.layer !== b.layer}
          onClick={() => go(linkTo("history", [], { from: a?.id, to: b?.id }))}
        >
          Compare the two chosen
        </button>
        {a !== undefined && b !== undefined && a.layer !== b.layer ? (
          <span class="quiet">Choose two of one layer.</span>
        ) : null}
      </div>
      {revisions.length === 0 ? (
        <Empty title="There is no revision yet.">
          <p>
            Each change of the folder or of a layer is one. <a href={linkTo("change")}>Make a change</a>
          </p>
        </Empty>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse must be able to scroll.
        <section class="panel scroll" aria-label="Revisions" tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">
                  <span class="hidden">Compare</span>
                </th>
                {["Revision", "When", "By", "Why", "Size", "Result"].map((name) => (
                  <th scope="col" key={name}>
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {revisions.map((revision, index) => (
                <Row
                  key={revision.id}
                  revision={revision}
                  isHead={heads.has(revision.id)}
                  isChosen={chosen.includes(revision.id)}
                  choose={() => choose(revision.id)}
                  isNew={index < 5}
                />
              ))}
            </tbody>
          </table>
        </section>
      )}
    </>
  );
}

function Row({
  revision,
  isHead,
  isChosen,
  choose,
  isNew,
}: {
  readonly revision: Revision;
  readonly isHead: boolean;
  readonly isChosen: boolean;
  choose(): void;
  /** How far clients are with it is asked for: that costs a look at each node. */
  readonly isNew: boolean;
}) {
  const { id, layer, number, time, author, message, upserted, removed } = revision;
  return (
    <tr class={isChosen ? "history-row current" : "history-row"}>
      <td>
        <input type="checkbox" aria-label={`Compare ${layer} ${number}`} checked={isChosen} onChange={choose} />
      </td>
      <th scope="row">
        <a href={linkTo("history", [id])}>
          {layer} {number}
        </a>
        {isHead ? <small> newest</small> : null}
      </th>
      <td>
        <Time at={time} />
      </td>
      <td>{author}</td>
      <td class="words">
        {message === "" ? null : <>{message} </>}
        <small>{causeText(revision)}</small>
      </td>
      <td class="nowrap">
        +{upserted} −{removed}
      </td>
      <td>{isNew ? <Result path={`revisions/${pathOf(id)}/arrival`} /> : null}</td>
    </tr>
  );
}

import { useState } from "preact/hooks";
import { pathOf } from "../../api/request.js";
import type { ChangedResource, LayerJson, RevisionJson } from "../../api/types.js";
import { useLive } from "../../api/use-live.js";
import { curlOf, xdskitOf } from "../../parts/acting/commands.js";
import { Copy } from "../../parts/acting/copy.js";
import { Arrival } from "../../parts/arrival.js";
import { Failure, Loading } from "../../parts/message.js";
import { StagesArrival } from "../../parts/stages-arrival.js";
import { Time } from "../../parts/time.js";
import { Changes } from "../../parts/yaml/changes.js";
import { linkTo } from "../../router.js";
import { counted } from "../../text/counts.js";
import { causeText } from "./cause.js";
import { Rollback } from "./rollback.js";

interface RevisionWithChanges extends RevisionJson {
  readonly changes: readonly ChangedResource[];
  readonly next?: string;
}

/** One revision: what it changed, how far it came, and the way back to it. */
export function RevisionView({ id }: { readonly id: string }) {
  const path = `revisions/${pathOf(id)}?limit=200&fields=proto`;
  const { data, error } = useLive<RevisionWithChanges>(path, "once");
  const layers = useLive<{ readonly layers: readonly LayerJson[] }>("layers");
  /** What the layer had when the rollback was asked for; undefined: nobody asks. */
  const [from, setFrom] = useState<RevisionJson | undefined>(undefined);
  if (data === undefined) return error === undefined ? <Loading /> : <Failure error={error} />;
  const { layer, number, parent, time, author, message, upserted, removed, changes } = data;
  const head = layers.data?.layers.find((one) => one.name === layer)?.head;
  return (
    <>
      <header class="page-head">
        <p class="crumbs">
          <a href={linkTo("history")}>History</a> / <a href={linkTo("history", [], { layer })}>{layer}</a> /
        </p>
        <h1>
          {layer} {number} {head?.id === id ? <small>newest</small> : null}
        </h1>
        <div class="actions">
          {parent === null ? null : (
            <a class="button" href={linkTo("history", [], { from: parent, to: id })}>
              Compare with the one before
            </a>
          )}
          {head == null || head.id === id ? null : (
            <a class="button" href={linkTo("history", [], { from: id, to: head.id })}>
              Compare with the newest
            </a>
          )}
          <Copy label="Copy curl" text={() => curlOf(path)} />
          <Copy label="Copy command" text={() => xdskitOf("show", id)} />
          {head == null || head.id === id ? null : (
            <button type="button" class="danger" onClick={() => setFrom(head)}>
              Roll back to this
            </button>
          )}
        </div>
        <p>
          <Time at={time} /> by <b>{author}</b>
          {message === "" ? null : <>: {message}</>} <small>{causeText(data)}</small>
        </p>
      </header>
      <section class="panel" aria-labelledby="arrival-title">
        <h2 id="arrival-title">How far it came</h2>
        <Arrival revision={id} />
        <StagesArrival revision={id} />
      </section>
      <section class="panel" aria-labelledby="changes-title">
        <h2 id="changes-title">
          What it changed <small>{counted(upserted + removed, "resource")}</small>
        </h2>
        <Changes changes={changes} total={upserted + removed} />
      </section>
      {from === undefined ? null : (
        <Rollback
          key={from.id}
          to={data}
          from={from}
          newest={head ?? from}
          lookAgain={() => setFrom(head ?? undefined)}
          close={() => setFrom(undefined)}
        />
      )}
    </>
  );
}

import type { ChangedResource, GroupStages, RevisionJson } from "../../api/types.js";
import { useLive } from "../../api/use-live.js";
import { curlOf, xdskitOf } from "../../parts/acting/commands.js";
import { Copy } from "../../parts/acting/copy.js";
import { Failure, Loading } from "../../parts/message.js";
import { Changes, Stages } from "../../parts/yaml/changes.js";
import { linkTo } from "../../router.js";
import { counted } from "../../text/counts.js";

interface Diff {
  readonly from: RevisionJson;
  readonly to: RevisionJson;
  readonly counts: { readonly added: number; readonly changed: number; readonly removed: number };
  readonly changes: readonly ChangedResource[];
  readonly stages: readonly GroupStages[];
}

/** What differs between two revisions of a layer. */
export function DiffView({ from, to }: { readonly from: string; readonly to: string }) {
  const path = `diff?${new URLSearchParams({ from, to, limit: "200", fields: "proto" })}`;
  const { data, error } = useLive<Diff>(path, "once");
  if (data === undefined) return error === undefined ? <Loading /> : <Failure error={error} />;
  const total = data.counts.added + data.counts.changed + data.counts.removed;
  return (
    <>
      <header class="page-head">
        <p class="crumbs">
          <a href={linkTo("history")}>History</a> /
        </p>
        <h1>
          {data.from.layer} {data.from.number} → {data.to.number} <small>{counted(total, "resource")}</small>
        </h1>
        <div class="actions">
          <Copy label="Copy curl" text={() => curlOf(path)} />
          <Copy label="Copy command" text={() => xdskitOf("diff", "--from", from, "--to", to)} />
        </div>
      </header>
      <section class="panel" aria-label="What differs">
        <Changes changes={data.changes} total={total} />
      </section>
      {data.stages.length === 0 ? null : (
        <section class="panel" aria-label="Stages">
          <h2>How clients get there</h2>
          <Stages stages={data.stages} />
        </section>
      )}
    </>
  );
}

import type { NodeResources } from "../../api/types.js";
import { useLive } from "../../api/use-live.js";
import { useCursor } from "../../parts/cursor.js";
import { Empty, Loading } from "../../parts/message.js";
import { Further, Search, Select } from "../../parts/search.js";
import { State } from "../../parts/state.js";
import { go, linkTo, replaceQuery } from "../../router.js";

const maxShown = 300;

/** All states but one. */
export const notSynced = "rejected,sent,not-sent,missing,held-back";

const states = [
  ["", "all"],
  [notSynced, "not synced"],
  ["rejected", "rejected"],
  ["missing", "missing"],
  ["held-back", "held back"],
  ["synced", "synced"],
] as const;

/** The resources that a node asks for. */
export function NodeResourceList({
  id,
  path,
  query,
  shown,
}: {
  readonly id: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly shown: { readonly type: string; readonly name: string } | undefined;
}) {
  const [q, type, state] = ["q", "type", "state"].map((name) => query.get(name) ?? "") as [string, string, string];
  const given = Object.entries({ q, type, state, limit: String(maxShown) }).filter(([, value]) => value !== "");
  const { data } = useLive<NodeResources>(`${path}/resources?${new URLSearchParams(given)}`);
  const rows = data?.resources ?? [];
  const linkOf = (one: (typeof rows)[number]) => linkTo("node", [id, one.type, one.name], { q, type, state });
  const current = useCursor(rows.length, (index) => {
    const chosen = rows[index];
    if (chosen !== undefined) go(linkOf(chosen));
  });
  return (
    <section class="panel list-panel" aria-label="Resources">
      <div class="filters">
        <Search label="Search resources" value={q} change={(text) => replaceQuery({ q: text })} />
        <Select label="State" value={state} options={states} change={(text) => replaceQuery({ state: text })} />
      </div>
      {data === undefined ? <Loading /> : null}
      {data?.total === 0 ? <Empty title="No resource fits." /> : null}
      <ul class="links">
        {rows.map((resource, index) => (
          <li key={`${resource.type} ${resource.name}`} class={index === current ? "current" : ""}>
            <a
              href={linkOf(resource)}
              aria-current={resource.type === shown?.type && resource.name === shown.name ? "true" : undefined}
            >
              <State state={resource.state} short />
              <span class="link-name">{resource.name}</span>
              <small>{resource.type}</small>
            </a>
          </li>
        ))}
      </ul>
      {data === undefined ? null : <Further total={data.total} shown={rows.length} />}
    </section>
  );
}

import { pathOf } from "../../api/request.js";
import type { GroupResources } from "../../api/types.js";
import { useLive } from "../../api/use-live.js";
import { curlOf } from "../../parts/acting/commands.js";
import { Copy } from "../../parts/acting/copy.js";
import { Empty, Failure, Loading } from "../../parts/message.js";
import { Search, Select } from "../../parts/search.js";
import { go, linkTo, type Place, replaceQuery } from "../../router.js";
import { numberText } from "../../text/counts.js";
import { ResourceList } from "./resource-list.js";
import { ResourceTable } from "./resource-table.js";
import { ResourceView } from "./resource-view.js";
import { WholeGraph } from "./whole-graph.js";

/** The graph of so many resources can be looked at as a whole: it is shown without being asked for. */
const maxSmall = 40;

interface Group {
  readonly name: string;
  readonly streams: number;
  readonly resources: number;
}

/** What the groups of nodes are served: types, resources, who uses what. */
export function ConfigView({ place }: { readonly place: Place }) {
  const { parts } = place;
  // A field is one of this resource: links to others are without it.
  const query = new URLSearchParams(place.query);
  query.delete("field");
  const groups = useLive<{ readonly groups: readonly Group[] }>("groups");
  const [asked = "", type = "", name] = parts;
  const names = groups.data?.groups.map((group) => group.name) ?? [];
  const group = names.includes(asked) ? asked : (names[0] ?? "");
  if (groups.data === undefined) return groups.error === undefined ? <Loading /> : <Failure error={groups.error} />;
  if (asked !== "" && !names.includes(asked)) return <NoGroup name={asked} />;
  const all = Object.fromEntries(query);
  const isSmall = (groups.data.groups.find((one) => one.name === group)?.resources ?? 0) <= maxSmall;
  const asksGraph = query.get("graph") ?? (isSmall ? "all" : "none");
  return (
    <>
      <header class="page-head">
        <h1>Configuration</h1>
        <div class="actions">
          <Copy label="Copy curl" text={() => curlOf(resourcesPath(group, type, query))} />
        </div>
      </header>
      <div class="filters">
        {names.length < 2 ? null : (
          <Select
            label="Group"
            value={group}
            options={names}
            change={(next) => go(linkTo("config", [next, type], all))}
          />
        )}
        <Search label="Search resources" value={query.get("q") ?? ""} change={(q) => replaceQuery({ q })} />
        <label class="check">
          <input
            type="checkbox"
            checked={query.get("contents") === "true"}
            onChange={({ currentTarget }) => replaceQuery({ contents: currentTarget.checked ? "true" : "" })}
          />
          also in contents
        </label>
        <Select
          label="Only"
          value={query.get("only") ?? ""}
          options={["", ["dangling", "names what is missing"], ["unused", "unused"]]}
          change={(only) => replaceQuery({ only })}
        />
        {type !== "" ? null : (
          <a class="button" href={linkTo("config", [group], { ...all, graph: asksGraph === "all" ? "none" : "all" })}>
            {asksGraph === "all" ? "Hide the whole graph" : "Show the whole graph"}
          </a>
        )}
      </div>
      {asksGraph === "all" && name === undefined && type === "" ? <WholeGraph group={group} /> : null}
      <Resources {...{ group, type, name, query, isOnly: names.length === 1 }} field={place.query.get("field") ?? ""} />
    </>
  );
}

/** A link from before, or from somewhere else. */
function NoGroup({ name }: { readonly name: string }) {
  return (
    <>
      <h1>Configuration</h1>
      <Empty title={`There is no group ${name}.`}>
        <p>
          <a href={linkTo("config")}>See the groups that there are</a>
        </p>
      </Empty>
    </>
  );
}

function resourcesPath(group: string, type: string, query: URLSearchParams): string {
  const given = Object.entries({
    type,
    q: query.get("q") ?? "",
    contents: query.get("contents") ?? "",
    only: query.get("only") ?? "",
    sort: query.get("sort") ?? "",
    order: query.get("order") ?? "",
    limit: "500",
  }).filter(([, value]) => value !== "");
  return `groups/${pathOf(group)}/resources?${new URLSearchParams(given)}`;
}

function Resources({
  group,
  isOnly,
  type,
  name,
  query,
  field,
}: {
  readonly group: string;
  /** There is no other group. */
  readonly isOnly: boolean;
  readonly type: string;
  readonly name: string | undefined;
  readonly query: URLSearchParams;
  readonly field: string;
}) {
  const { data, error } = useLive<GroupResources>(resourcesPath(group, type, query));
  if (data === undefined) return error === undefined ? <Loading /> : <Failure error={error} />;
  if (data.counts.length === 0)
    return (
      <Empty title="Nothing is served yet.">
        <p>
          Save a file in the served folder, or <a href={linkTo("change")}>make a change here</a>.
        </p>
      </Empty>
    );
  return (
    <>
      <Types group={group} type={type} data={data} query={query} />
      <div class={name === undefined ? "" : "two-columns"}>
        {name === undefined ? (
          <ResourceTable group={group} data={data} query={query} />
        ) : (
          <>
            <ResourceList group={group} type={type} data={data} name={name} query={query} />
            <ResourceView {...{ group, isOnly, type, name, query, field }} />
          </>
        )}
      </div>
    </>
  );
}

function Types({
  group,
  type,
  data: { counts },
  query,
}: {
  readonly group: string;
  readonly type: string;
  readonly data: GroupResources;
  readonly query: URLSearchParams;
}) {
  const all = Object.fromEntries(query);
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  const tabs = [{ type: "", count: total, dangling: 0, unused: 0 }, ...counts];
  return (
    <nav class="tabs" aria-label="Types">
      {tabs.map((one) => (
        <a
          key={one.type}
          href={linkTo("config", one.type === "" ? [group] : [group, one.type], all)}
          aria-current={one.type === type ? "page" : undefined}
        >
          {one.type === "" ? "all" : one.type} <span class="tab-count">{numberText(one.count)}</span>
          {one.dangling > 0 ? (
            <span class="mark mark-dangling" title={`${one.dangling} name what is missing`}>
              ⚠ {one.dangling}
            </span>
          ) : null}
        </a>
      ))}
    </nav>
  );
}

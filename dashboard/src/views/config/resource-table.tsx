import type { GroupResource, GroupResources, ProblemList } from "../../api/types.js";
import { useLive } from "../../api/use-live.js";
import { useCursor } from "../../parts/cursor.js";
import { CutName } from "../../parts/cut-name.js";
import { Empty, WhereText } from "../../parts/message.js";
import { Further } from "../../parts/search.js";
import { go, linkTo, replaceQuery } from "../../router.js";
import { counted, numberText } from "../../text/counts.js";
import { Marks } from "./resource-list.js";

/** The columns by which the server sorts: what stands first after a first press. */
const sorts = { name: "asc", type: "asc", layer: "asc", uses: "desc", "used-by": "desc" } as const;
type Sort = keyof typeof sorts;

/** The resources of a group that fit, as a table that can be sorted. */
export function ResourceTable({
  group,
  data: { resources, total },
  query,
}: {
  readonly group: string;
  readonly data: GroupResources;
  readonly query: URLSearchParams;
}) {
  const problems = useLive<ProblemList>("problems");
  const linkOf = ({ type, name }: GroupResource) => linkTo("config", [group, type, name], Object.fromEntries(query));
  const current = useCursor(resources.length, (index) => {
    const chosen = resources[index];
    if (chosen !== undefined) go(linkOf(chosen));
  });
  if (resources.length === 0)
    return (
      <section class="panel" aria-label="Resources">
        <Empty title="No resource fits." />
      </section>
    );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse must be able to scroll.
    <section class="panel scroll stack" aria-label="Resources" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <Column sort="name" name="Name" query={query} />
            <Column sort="type" name="Type" query={query} />
            <th scope="col">What it is</th>
            <Column sort="layer" name="Layer" query={query} />
            <th scope="col">Written in</th>
            <Column sort="uses" name="Uses" query={query} />
            <Column sort="used-by" name="Used by" query={query} />
            <th scope="col" class="number">
              Rejected by
            </th>
          </tr>
        </thead>
        <tbody>
          {resources.map((resource, index) => (
            <tr key={`${resource.type} ${resource.name}`} class={index === current ? "current" : ""}>
              <th scope="row">
                <a class="tall-link" href={linkOf(resource)} title={resource.name}>
                  <CutName name={resource.name} />
                </a>{" "}
                <Marks resource={resource} />
              </th>
              <td class="nowrap">{resource.type}</td>
              <td class="words">{resource.summary}</td>
              <td class="nowrap" data-label="layer">
                {resource.layer ?? ""}
              </td>
              <td class="file-cell">{resource.where === null ? "" : <WhereText where={resource.where} />}</td>
              <td class="number" data-label="uses">
                {numberText(resource.uses)}
              </td>
              <td class="number" data-label="used by">
                {numberText(resource.usedBy)}
              </td>
              <td class="number" data-label="rejected by">
                <Rejected problems={problems.data} resource={resource} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <Further total={total} shown={resources.length} />
    </section>
  );
}

function Column({
  sort,
  name,
  query,
}: {
  readonly sort: Sort;
  readonly name: string;
  readonly query: URLSearchParams;
}) {
  const by = query.get("sort") ?? "type";
  const order = query.get("order") ?? "asc";
  const isChosen = by === sort;
  const next = isChosen ? (order === "asc" ? "desc" : "asc") : sorts[sort];
  const isNumber = sorts[sort] === "desc";
  return (
    <th
      scope="col"
      class={isNumber ? "number" : ""}
      aria-sort={isChosen ? (order === "asc" ? "ascending" : "descending") : undefined}
    >
      <button type="button" class="column-button" onClick={() => replaceQuery({ sort, order: next })}>
        {name} <span aria-hidden="true">{isChosen ? (order === "asc" ? "▴" : "▾") : ""}</span>
      </button>
    </th>
  );
}

/** The nodes that reject it, as the problems have them. */
function Rejected({
  problems,
  resource: { type, name },
}: {
  readonly problems: ProblemList | undefined;
  readonly resource: GroupResource;
}) {
  const found = problems?.problems.find(
    ({ kind, types, names }) => kind === "rejected" && types.includes(type) && names.includes(name),
  );
  if (found === undefined) return <span class="quiet">0</span>;
  return (
    <a class="state-rejected" href={linkTo("problems", [found.id])} title={counted(found.count, "node")}>
      <span aria-hidden="true">✕</span> {numberText(found.count)}
    </a>
  );
}

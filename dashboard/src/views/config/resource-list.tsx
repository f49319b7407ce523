import type { GroupResource, GroupResources } from "../../api/types.js";
import { useCursor } from "../../parts/cursor.js";
import { Empty } from "../../parts/message.js";
import { Further } from "../../parts/search.js";
import { go, linkTo } from "../../router.js";

/** The resources of a group that fit. */
export function ResourceList({
  group,
  type,
  name,
  data: { resources, total },
  query,
}: {
  readonly group: string;
  readonly type: string;
  readonly name: string | undefined;
  readonly data: GroupResources;
  readonly query: URLSearchParams;
}) {
  const current = useCursor(resources.length, (index) => {
    const chosen = resources[index];
    if (chosen !== undefined) go(linkTo("config", [group, chosen.type, chosen.name], Object.fromEntries(query)));
  });
  return (
    <section class="panel list-panel" aria-label="Resources">
      {resources.length === 0 ? <Empty title="No resource fits." /> : null}
      <ul class="links">
        {resources.map((resource, index) => (
          <li key={`${resource.type} ${resource.name}`} class={index === current ? "current" : ""}>
            <a
              href={linkTo("config", [group, resource.type, resource.name], Object.fromEntries(query))}
              aria-current={resource.type === type && resource.name === name ? "true" : undefined}
            >
              <span class="link-name">{resource.name}</span>
              <small>{[resource.type, resource.summary].filter(Boolean).join(" · ")}</small>
              <Marks resource={resource} />
            </a>
          </li>
        ))}
      </ul>
      <Further total={total} shown={resources.length} />
    </section>
  );
}

/** What is odd about a resource. */
export function Marks({ resource: { dangling, unused } }: { readonly resource: GroupResource }) {
  return (
    <>
      {dangling.length > 0 ? (
        <span class="mark mark-dangling">⚠ names {dangling.map(({ name }) => name).join(", ")}, which is missing</span>
      ) : null}
      {unused ? <span class="mark mark-unused">◇ unused</span> : null}
    </>
  );
}

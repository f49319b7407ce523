import { get, pathOf } from "../api/request.js";
import type { GroupResources, NodeRows } from "../api/types.js";
import { linkTo } from "../router.js";
import { typeName } from "../text/type-names.js";
import type { RevisionPage } from "../views/history/find-revision.js";
import { views } from "./views.js";

/** Something that somebody may go to. */
export interface Target {
  readonly kind: "node" | "resource" | "revision" | "action";
  readonly name: string;
  /** What else tells it from others. */
  readonly detail: string;
  readonly link: string;
}

/** Of each kind so many are offered. */
const maxOfKind = 6;
/** A resource is looked for in so many groups: most are in several. */
const maxGroups = 8;
const revisionsLooked = 200;

const actions: readonly Target[] = [
  ...views.map(([view, name, key]) => action(name, `go there (${key})`, linkTo(view))),
  action("Nodes that reject something", "Fleet", linkTo("fleet", [], { state: "rejected" })),
  action("Nodes that are held back", "Fleet", linkTo("fleet", [], { state: "held-back" })),
  action("Nodes that do not answer", "Fleet", linkTo("fleet", [], { state: "stale" })),
  action("Resources that name what is missing", "Configuration", linkTo("config", [], { only: "dangling" })),
  action("Resources that nothing names", "Configuration", linkTo("config", [], { only: "unused" })),
  action("Resume, promote, halt or undo a rollout", "Rollouts", linkTo("rollouts")),
  action("Lift a quarantine", "Rollouts", linkTo("rollouts")),
  action("Roll back", "History: open the revision to go back to", linkTo("history")),
  action("Compare two revisions", "History", linkTo("history")),
];

function action(name: string, detail: string, link: string): Target {
  return { kind: "action", name, detail, link };
}

/** What fits a text: nodes, resources, revisions and actions. What one question fails at is left out. */
export async function findAll(text: string, signal: AbortSignal): Promise<readonly Target[]> {
  const wanted = text.trim().toLowerCase();
  const fitting = actions.filter(({ name }) => name.toLowerCase().includes(wanted));
  if (wanted === "") return fitting;
  const questions = [nodes(wanted, signal), resources(wanted, signal), revisions(wanted, signal)];
  const answers = await Promise.allSettled(questions);
  const found = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value.slice(0, maxOfKind) : []));
  return [...found, ...fitting.slice(0, maxOfKind)];
}

async function nodes(q: string, signal: AbortSignal): Promise<readonly Target[]> {
  const query = new URLSearchParams({ q, sort: "state", limit: String(maxOfKind) });
  const { nodes: found } = await get<NodeRows>(`fleet/nodes?${query}`, signal);
  return found.map(({ id, group, state }) => {
    return { kind: "node", name: id, detail: `${group}, ${state.replace("-", " ")}`, link: linkTo("node", [id]) };
  });
}

async function resources(q: string, signal: AbortSignal): Promise<readonly Target[]> {
  const { groups } = await get<{ readonly groups: readonly { readonly name: string }[] }>("groups", signal);
  const query = new URLSearchParams({ q, limit: String(maxOfKind) });
  const found = await Promise.all(
    groups.slice(0, maxGroups).map(async ({ name: group }) => {
      const answer = await get<GroupResources>(`groups/${pathOf(group)}/resources?${query}`, signal);
      return answer.resources.map((one) => ({ group, ...one }));
    }),
  );
  const known = new Set<string>();
  return found.flat().flatMap(({ group, type, name, summary }) => {
    const key = `${type} ${name}`;
    if (known.has(key)) return [];
    known.add(key);
    const detail = [typeName(type), summary].filter(Boolean).join(" · ");
    return [{ kind: "resource" as const, name, detail, link: linkTo("config", [group, type, name]) }];
  });
}

async function revisions(q: string, signal: AbortSignal): Promise<readonly Target[]> {
  const { revisions: newest } = await get<RevisionPage>(`revisions?limit=${revisionsLooked}`, signal);
  return newest
    .filter(({ id, layer, number, author, message }) =>
      `${layer} ${number}\n${id}\n${author}\n${message}`.toLowerCase().includes(q),
    )
    .map(({ id, layer, number, author, message }) => {
      const detail = [author, message].filter(Boolean).join(": ");
      return { kind: "revision", name: `${layer} ${number}`, detail, link: linkTo("history", [id]) };
    });
}

import { type Finding, XdskitError } from "@xdskit/api";
import type { Rollout, SharedRollouts, XdsServer } from "@xdskit/server";
import { mustBeKnown, mustHaveOnly, unknownGroup } from "../contract/known-values.js";
import { maxPage, usualPage } from "../contract/limits.js";
import type { PeerServer } from "../contract/peers.js";
import { ApiProblem } from "../contract/problem.js";
import { type AllAnswered, askAll } from "./ask-all.js";
import { mergedQuarantines, mergedRollouts, type RolloutsJson } from "./merge-rollouts.js";

/** The parts that the pages about rollouts read and act on, for all servers of the store. */
export interface RolloutsInput {
  readonly server: Pick<XdsServer, "rollouts" | "quarantines">;
  /** Undefined: this server has rollouts of its own, and shares none with others. */
  readonly shared: SharedRollouts | undefined;
  /** The other servers. */
  readonly peers: () => readonly PeerServer[];
}

/** Selects quarantines; a field that is left out selects all. */
export type QuarantineQuery = Readonly<Partial<Record<"group" | "type" | "name", string>>>;

/** The result of a POST. `conflict`: it does not apply now, or to another rollout. */
export type CarriedOut =
  | { readonly kind: "done"; readonly body: object }
  | { readonly kind: "conflict" | "unknown" }
  | { readonly kind: "refused"; readonly status: number; readonly finding: Finding };

/** The rollouts and quarantines of this server, as JSON. */
export function ownRollouts(server: RolloutsInput["server"]): RolloutsJson {
  return JSON.parse(JSON.stringify({ rollouts: server.rollouts(), quarantines: server.quarantines() })) as RolloutsJson;
}

/** A page of `/api/v1/rollouts`. */
export interface RolloutsPage extends RolloutsJson, AllAnswered {
  /** `after` of the next page; undefined: there is none. */
  readonly next?: string;
}

/** The answer of `/api/v1/rollouts`: rollouts come before quarantines. Rejects with a problem for a wrong query. */
export async function rolloutsPage(input: RolloutsInput, query: URLSearchParams): Promise<RolloutsPage> {
  const limit = Number(query.get("limit") ?? usualPage);
  const start = Number(query.get("after") ?? 0);
  if (!Number.isInteger(limit) || limit < 1 || limit > maxPage)
    throw wrongQuery(`limit: expected a number from 1 to ${maxPage}`);
  if (query.get("after")?.trim() === "" || !Number.isSafeInteger(start) || start < 0)
    throw wrongQuery("after: expected `next` of the page before");
  const { rollouts, quarantines, ...silent } = await allRollouts(input);
  const end = start + limit;
  const from = (list: number) => [Math.max(0, start - list), Math.max(0, end - list)] as const;
  return {
    rollouts: rollouts.slice(...from(0)),
    quarantines: quarantines.slice(...from(rollouts.length)),
    ...(end < rollouts.length + quarantines.length ? { next: String(end) } : {}),
    ...silent,
  };
}

function wrongQuery(message: string): ApiProblem {
  return ApiProblem.of(400, "XDSKIT_API_REQUEST", message);
}

/** The rollouts and quarantines of all servers. One that does not answer is named in `silent`. */
async function allRollouts({ server, peers }: RolloutsInput): Promise<RolloutsJson & AllAnswered> {
  const own = ownRollouts(server);
  const { answers, ...silent } = await askAll<RolloutsJson>(peers(), "rollouts");
  const all = [own, ...answers.map(({ answer }) => answer)];
  return {
    rollouts: mergedRollouts(all.map(({ rollouts }) => rollouts)),
    quarantines: mergedQuarantines(all.map(({ quarantines }) => quarantines)),
    ...silent,
  };
}

const actions = { promote: "promote", "roll-back": "rollBack", halt: "halt", resume: "resume" } as const;

/**
 * Handles a POST: `/api/v1/rollouts/<group>/promote`, `roll-back`, `halt` or `resume`, with the `id` of the rollout in
 * the query if only that one is meant, and `/api/v1/quarantines/lift`, which ends the quarantines that `group`, `type`
 * and `name` of the query select. `path` is the part after `/api/v1/`, `groups` are those of this server. Rejects with
 * a problem for a wrong query, and for a group that no server has.
 */
export async function carryOut(
  input: RolloutsInput,
  path: string,
  query: URLSearchParams,
  groups: readonly string[],
): Promise<CarriedOut> {
  if (path === "quarantines/lift") return await liftEverywhere(input, query, groups);
  const [, encoded = "", action = ""] = /^rollouts\/([^/]+)\/([a-z-]+)$/.exec(path) ?? [];
  if (!Object.hasOwn(actions, action)) return { kind: "unknown" };
  mustHaveOnly(query, ["id"]);
  const group = decodedPart(encoded);
  const id = query.get("id");
  if (id !== null && !/^\d+$/.test(id)) throw wrongQuery("id: expected the number of a rollout");
  const isDone = await lead(
    input,
    group,
    actions[action as keyof typeof actions],
    id === null ? undefined : Number(id),
  ).catch((error: unknown) => refusalOf(error));
  if (typeof isDone !== "boolean") return isDone;
  const { rollouts } = await allRollouts(input);
  const found = rollouts.find((each) => each.group === group);
  if (isDone && found !== undefined) return { kind: "done", body: found };
  if (found === undefined && !groups.includes(group)) throw unknownGroup(group, groups);
  return { kind: "conflict" };
}

async function lead(
  { server, shared }: RolloutsInput,
  group: string,
  action: (typeof actions)[keyof typeof actions],
  id: number | undefined,
): Promise<boolean> {
  if (shared !== undefined) return (await shared.lead(group, action, { id })) === "done";
  const rollout: Rollout | undefined = server.rollouts().find((each) => each.group === group);
  return rollout !== undefined && (id === undefined || rollout.id === id) && rollout[action]();
}

/** Ends quarantines of this server; returns how many. */
export function liftHere(server: RolloutsInput["server"], query: QuarantineQuery): number {
  const isMeant = (key: keyof QuarantineQuery, value: string) => (query[key] ?? value) === value;
  const found = server
    .quarantines()
    .filter(({ group, type, name }) => isMeant("group", group) && isMeant("type", type) && isMeant("name", name));
  return found.filter((each) => each.lift()).length;
}

async function liftEverywhere(
  { server, peers }: RolloutsInput,
  query: URLSearchParams,
  groups: readonly string[],
): Promise<CarriedOut> {
  mustHaveOnly(query, ["group", "type", "name"]);
  const asked: Record<string, string> = Object.fromEntries(query);
  const own = liftHere(server, asked);
  const { answers } = await askAll<number>(peers(), "lift-quarantines", asked);
  const lifted = Math.max(own, ...answers.map(({ answer }) => answer));
  if (lifted > 0) return { kind: "done", body: { lifted } };
  mustBeKnown("group", query.getAll("group"), groups);
  return { kind: "conflict" };
}

function refusalOf(error: unknown): CarriedOut {
  const [finding] = error instanceof XdskitError ? error.findings : [];
  if (finding === undefined) throw error;
  return { kind: "refused", status: 503, finding };
}

/** A text that is not encoded as it should be stays as it is: no group has this name. */
function decodedPart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

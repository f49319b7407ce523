import type { ApiClient } from "../api-client/api-client.js";
import { ApiError } from "../api-client/api-error.js";
import type { ApiServer } from "../api-client/api-server.js";
import type { QuarantineJson, RolloutJson } from "../api-client/api-types.js";
import { withServer } from "../api-client/with-server.js";
import { jsonText } from "../output/json-text.js";
import { tell } from "../output/screen/told.js";
import { paintOf, type Terminal } from "../output/terminal.js";
import { exitStatus } from "../process/exit-status.js";
import { isUnderWay, type RolloutsView, rolloutsText, rolloutText } from "./rollout-text.js";

/** What to do with a rollout. */
export const rolloutActions = ["status", "promote", "halt", "resume", "undo"] as const;
export type RolloutVerb = (typeof rolloutActions)[number];

export interface RolloutOptions {
  readonly action: RolloutVerb;
  /** Undefined: all, or the only one that there is. */
  readonly group: string | undefined;
  readonly server: ApiServer;
  readonly output: "text" | "json";
}

const paths = { promote: "promote", halt: "halt", resume: "resume", undo: "roll-back" } as const;

/** Shows rollouts, or leads one by hand. Resolves to the exit status: 0, or 1 if there is nothing to do it with. */
export function runRollout(options: RolloutOptions, terminal: Terminal): Promise<number> {
  const { action } = options;
  return withServer("rollout", options, terminal, async (client) => {
    const result =
      action === "status" ? await status(client, options, terminal) : await lead(client, options, action, terminal);
    if (options.output === "json") terminal.out(result);
    else tell(terminal, result);
    return exitStatus.ok;
  });
}

/** All pages of `/api/v1/rollouts`. */
async function allRollouts(client: ApiClient): Promise<RolloutsView> {
  const rollouts: RolloutJson[] = [];
  const quarantines: QuarantineJson[] = [];
  let after: string | undefined;
  do {
    const page = await client.get("/api/v1/rollouts", { query: { after } });
    rollouts.push(...page.rollouts);
    quarantines.push(...page.quarantines);
    after = page.next;
  } while (after !== undefined);
  return { rollouts, quarantines };
}

async function status(client: ApiClient, { group, output }: RolloutOptions, terminal: Terminal): Promise<string> {
  const view = await allRollouts(client);
  const ofGroup = <T extends { readonly group: string }>(all: readonly T[]) =>
    all.filter((each) => group === undefined || each.group === group);
  const asked = { rollouts: ofGroup(view.rollouts), quarantines: ofGroup(view.quarantines) };
  if (group !== undefined && asked.rollouts.length + asked.quarantines.length === 0)
    throw await noRollout(client, group, view);
  return output === "json" ? jsonText(asked) : rolloutsText(asked, paintOf(terminal, "out"));
}

async function lead(
  client: ApiClient,
  { group, output }: RolloutOptions,
  action: keyof typeof paths,
  terminal: Terminal,
): Promise<string> {
  const view = await allRollouts(client);
  const rollout = await theOne(client, view, group);
  // The id: what was looked at may be over, and another one under way.
  const at = { group: rollout.group, action: paths[action] };
  const call = { at, query: { id: rollout.id } };
  const after = await client.post("/api/v1/rollouts/{group}/{action}", call).catch(async (error: unknown) => {
    if (!(error instanceof ApiError) || error.status !== 409) throw error;
    throw new ApiError(await whyNot(client, rollout, action), { status: 409 });
  });
  return output === "json" ? jsonText(after) : rolloutText(after, paintOf(terminal, "out"));
}

/** Why an action was refused. */
async function whyNot(client: ApiClient, { id, group, state }: RolloutJson, action: string): Promise<string> {
  const { rollouts } = await client.get("/api/v1/rollouts");
  const now = rollouts.find((each) => each.group === group);
  if (now !== undefined && now.id !== id)
    return `another rollout of group "${group}" has begun meanwhile: look at it by rollout status, and try again`;
  return `the rollout of group "${group}" is ${now?.state ?? state}: ${action} does not apply`;
}

async function theOne(client: ApiClient, view: RolloutsView, group: string | undefined): Promise<RolloutJson> {
  if (group !== undefined) {
    const found = view.rollouts.find((each) => each.group === group);
    if (found === undefined) throw await noRollout(client, group, view);
    return found;
  }
  const [first, ...more] = view.rollouts.filter(isUnderWay);
  if (first === undefined) throw new ApiError("no rollout is under way");
  if (more.length === 0) return first;
  const groups = [first, ...more].map((each) => each.group).join(", ");
  throw new ApiError(`more than one rollout is under way: name a group of ${groups}`);
}

/** Rejects where there is no such group: the server says which there are. */
async function noRollout(client: ApiClient, group: string, { rollouts }: RolloutsView): Promise<ApiError> {
  await client.get("/api/v1/groups/{group}/resources", { at: { group }, query: { limit: 1 } });
  const others = rollouts.map((each) => each.group).join(", ");
  return new ApiError(`group "${group}" has no rollout${others === "" ? "" : `, only ${others}`}`);
}

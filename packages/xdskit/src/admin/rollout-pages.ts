import type { XdsServer } from "@xdskit/server";

/** The pages about rollouts read and act here. */
export type RolloutsInput = Pick<XdsServer, "rollouts" | "quarantines">;

/** The answer of `/api/v1/rollouts`. */
export function rolloutsPage(server: RolloutsInput): object {
  return { rollouts: server.rollouts(), quarantines: server.quarantines() };
}

const actions = { promote: "promote", "roll-back": "rollBack", halt: "halt", resume: "resume" } as const;

/**
 * Handles a POST: `/api/v1/rollouts/<group>/promote`, `roll-back`, `halt` or `resume`, and `/api/v1/quarantines/lift`,
 * which ends the quarantines that `group`, `type` and `name` of the query select. `path` is the part after `/api/v1/`.
 * Undefined: there is no such path; false: it does not apply now.
 */
export function carryOut(server: RolloutsInput, path: string, query: URLSearchParams): object | false | undefined {
  if (path === "quarantines/lift") {
    const wanted = (key: "group" | "type" | "name", value: string) => (query.get(key) ?? value) === value;
    const found = server
      .quarantines()
      .filter(({ group, type, name }) => wanted("group", group) && wanted("type", type) && wanted("name", name));
    const lifted = found.filter((each) => each.lift()).length;
    return lifted > 0 && { lifted };
  }
  const [, encoded = "", action = ""] = /^rollouts\/([^/]+)\/([a-z-]+)$/.exec(path) ?? [];
  if (!Object.hasOwn(actions, action)) return undefined;
  const group = decodedPart(encoded);
  const rollout = server.rollouts().find((each) => each.group === group);
  if (rollout?.[actions[action as keyof typeof actions]]() !== true) return false;
  return server.rollouts().find((each) => each.group === group) ?? false;
}

function decodedPart(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

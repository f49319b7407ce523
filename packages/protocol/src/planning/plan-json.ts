import type { Wait } from "../model/basics/wait.js";
import type { Plan, PlanStage } from "./plan.js";

/** A wait, for programs. `for` is missing if the change waits for the client's interest. */
export interface WaitJson {
  readonly kind: Wait["kind"];
  readonly type: string;
  readonly names: readonly string[];
  readonly for?: { readonly type: string; readonly names: readonly string[] } | undefined;
}

/** A stage of a plan for programs: each type's names. */
export interface StageJson {
  readonly after: readonly WaitJson[];
  readonly changes: readonly {
    readonly type: string;
    readonly added: readonly string[];
    readonly changed: readonly string[];
    readonly removed: readonly string[];
  }[];
}

/** A plan for programs, as `xdskit plan --json` and the API give it. */
export function planJson({ stages, waits }: Plan): {
  readonly stages: readonly StageJson[];
  readonly waits: readonly WaitJson[];
} {
  return { stages: stages.map(stageJson), waits: waits.map(waitJson) };
}

function stageJson({ after, changes }: PlanStage): StageJson {
  return {
    after: after.map(waitJson),
    changes: changes.map(({ type, added, changed, removed }) => ({
      type: type.name,
      added: added.map(({ name }) => name),
      changed: changed.map(({ after }) => after.name),
      removed: removed.map(({ name }) => name),
    })),
  };
}

function waitJson({ kind, type, names, for: cause }: Wait): WaitJson {
  return { kind, type: type.name, names, for: cause && { type: cause.type.name, names: cause.names } };
}

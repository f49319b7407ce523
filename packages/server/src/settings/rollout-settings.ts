import { faultsOf, type NodeMatch } from "./node-match.js";

/** The nodes of a group that get a change in one step, besides those of the steps before. */
export type RolloutStep =
  /**
   * This percentage of all positions. A node's position is a hash of its id, so the same nodes are taken each time. At
   * least one of the connected nodes.
   */
  | { readonly percent: number }
  /** This many nodes, those with the lowest positions first. */
  | { readonly count: number }
  | { readonly match: NodeMatch };

/**
 * How a change goes to the nodes of a group: in steps, each after the one before was acknowledged and has soaked, and
 * after the last step to all.
 */
export interface RolloutSettings {
  readonly steps: readonly RolloutStep[];
  /** Milliseconds between the acknowledgement of all nodes of a step and the next one. Default 30,000. */
  readonly soakMs?: number | undefined;
  /** How many nodes must reject the change for it to halt. Default 1. */
  readonly haltAfter?: number | undefined;
  /** Milliseconds after which a step halts if its nodes have not acknowledged the change. Default 300,000. */
  readonly timeoutMs?: number | undefined;
}

/** The defaults. */
export const defaultRolloutSettings = { soakMs: 30_000, haltAfter: 1, timeoutMs: 300_000 } as const;

/** With nothing left out. */
export type FullRolloutSettings = { readonly [K in keyof RolloutSettings]-?: Exclude<RolloutSettings[K], undefined> };

export function fullSettings(settings: RolloutSettings): FullRolloutSettings {
  const { soakMs, haltAfter, timeoutMs } = defaultRolloutSettings;
  return {
    steps: settings.steps,
    soakMs: settings.soakMs ?? soakMs,
    haltAfter: settings.haltAfter ?? haltAfter,
    timeoutMs: settings.timeoutMs ?? timeoutMs,
  };
}

/** Finds the errors in settings from a program. Each begins with the field. */
export function rolloutFaults(
  settings: RolloutSettings | "off" | undefined,
): readonly { field: string; message: string }[] {
  if (settings === undefined || settings === "off") return [];
  const faults: { field: string; message: string }[] = [];
  const add = (field: string, message: string) => void faults.push({ field, message });
  const { steps, soakMs = 0, haltAfter = 1, timeoutMs = 1 } = settings;
  if (!Array.isArray(steps) || steps.length === 0) add("steps", "a rollout needs a step");
  else for (const [index, step] of steps.entries()) for (const fault of stepFaults(step)) add(`steps[${index}]`, fault);
  if (!(soakMs >= 0)) add("soakMs", "it must be milliseconds, or 0 for not at all");
  if (!(Number.isInteger(haltAfter) && haltAfter >= 1)) add("haltAfter", "it must be a whole number above 0");
  if (!(timeoutMs > 0)) add("timeoutMs", "it must be milliseconds above 0");
  return faults;
}

function stepFaults(step: Partial<Record<"percent" | "count", number> & { match: NodeMatch }>): readonly string[] {
  const { percent, count, match } = step;
  if ([percent, count, match].filter((each) => each !== undefined).length !== 1)
    return ["a step has one of percent, count and match"];
  if (percent !== undefined && !(percent > 0 && percent <= 100)) return ["percent must be above 0 and at most 100"];
  if (count !== undefined && !(Number.isInteger(count) && count >= 1)) return ["count must be a whole number above 0"];
  return match === undefined ? [] : faultsOf(match);
}

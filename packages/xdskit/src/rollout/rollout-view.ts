/** A rollout as `/api/v1/rollouts` shows it. */
export interface RolloutView {
  readonly id: number;
  readonly group: string;
  readonly state: "waiting" | "soaking" | "halted" | "completed" | "rolled-back" | "withdrawn";
  readonly reason: string;
  readonly step: number;
  readonly steps: readonly object[];
  readonly since: string;
  readonly changed: number;
  readonly resources: readonly { readonly type: string; readonly name: string }[];
  readonly nodes: {
    readonly reached: number;
    readonly pending: number;
    readonly rejected: number;
    readonly held: number;
  };
  readonly waitsFor: readonly string[];
  readonly rejections: readonly { readonly node: string; readonly type: string; readonly message: string }[];
}

/** A content that some nodes are not given. */
export interface QuarantineView {
  readonly group: string;
  readonly type: string;
  readonly name: string;
  readonly cause: string;
  readonly node: string;
  readonly message: string;
}

/** The answer of `/api/v1/rollouts`. */
export interface RolloutsView {
  readonly rollouts: readonly RolloutView[];
  readonly quarantines: readonly QuarantineView[];
}

/** Whether it may go further, or be taken back. */
export function isUnderWay({ state }: Pick<RolloutView, "state">): boolean {
  return state === "waiting" || state === "soaking" || state === "halted";
}

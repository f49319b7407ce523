/** What a route's status says of one of its parents. */
export interface ParentVerdict {
  /** The reference, as the route has it. */
  readonly parentRef: object;
  /** Undefined: another server may serve the parent, and what is said of it stays. */
  readonly conditions: readonly RouteVerdict[] | undefined;
}

/** A condition, without the times that it has in a status. */
export interface RouteVerdict {
  readonly type: "Accepted" | "ResolvedRefs" | "PartiallyInvalid" | typeof rejectedType;
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
}

/** What the status of a route is to be. */
export interface WantedStatus {
  readonly generation: number;
  readonly parents: readonly ParentVerdict[];
}

/** A client rejected what was made of the route. Like `PartiallyInvalid`, it is there only while that is so. */
export const rejectedType = "xdskit.github.io/Rejected";

/** All conditions that are ours. */
export const ownTypes: readonly string[] = ["Accepted", "ResolvedRefs", "PartiallyInvalid", rejectedType];

/** Whether a condition tells of something wrong. */
export function isBad({ type, status }: RouteVerdict): boolean {
  return (type === "Accepted" || type === "ResolvedRefs") === (status === "False");
}

/** The kinds of routes that are followed. */
export type RouteKind = "GRPCRoute" | "HTTPRoute";

/** The API group of routes, and the version that is read. */
export const gatewayApi = "gateway.networking.k8s.io/v1";

/** A route of the Gateway API, as far as it is about Services. */
export interface MeshRoute {
  readonly kind: RouteKind;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string | undefined;
  /** When it was made, in a form that sorts. */
  readonly createdAt: string;
  /** Counts the changes of its content. */
  readonly generation: number;
  readonly parents: readonly RouteParent[];
  readonly rules: readonly RouteRule[];
  /** What of it has no effect, or not for all clients. */
  readonly notes: readonly string[];
}

/** A Service whose calls a route directs. */
export interface RouteParent {
  /** The reference, as it is written. */
  readonly ref: object;
  readonly namespace: string;
  readonly name: string;
  /** Undefined: of any number, or name. */
  readonly port: number | undefined;
  readonly portName: string | undefined;
}

/** Where calls go that match. */
export interface RouteRule {
  /** One of them is enough. */
  readonly matches: readonly RouteMatch[];
  readonly backends: readonly RouteBackend[];
  readonly requestHeaders?: HeaderChanges | undefined;
  readonly responseHeaders?: HeaderChanges | undefined;
  /** In milliseconds; 0: none. */
  readonly timeoutMs?: number | undefined;
  /** The same for each try. */
  readonly tryTimeoutMs?: number | undefined;
  readonly retry?: RouteRetry | undefined;
  /** What nobody of our clients can do: the rule is left out. */
  readonly faults: readonly string[];
}

/** What a call must have: all of it. */
export interface RouteMatch {
  /** Any of them. */
  readonly paths: readonly PathMatch[];
  readonly headers: readonly HeaderMatch[];
  /** Of two that match a call, the one with the larger first number that differs wins. */
  readonly rank: readonly number[];
}

/** A prefix is one of letters. */
export interface PathMatch {
  readonly kind: "exact" | "prefix" | "regex";
  readonly value: string;
}

/** The name is in small letters. */
export interface HeaderMatch {
  readonly name: string;
  readonly kind: "exact" | "regex";
  readonly value: string;
}

/** Who gets calls, and how many of them. */
export interface RouteBackend {
  /** Empty: the core of Kubernetes. */
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly port: number | undefined;
  readonly weight: number;
}

/** Changes of headers. */
export interface HeaderChanges {
  readonly set?: readonly NamedValue[];
  readonly add?: readonly NamedValue[];
  readonly remove?: readonly string[];
}

interface NamedValue {
  readonly name: string;
  readonly value: string;
}

/** When a failed call is tried again. */
export interface RouteRetry {
  /** Statuses of HTTP. */
  readonly codes: readonly number[];
  readonly attempts: number | undefined;
  readonly backoffMs: number | undefined;
}

/** Whether a reference names a Service. The documentation of the Gateway API writes its group in both ways. */
export function isService({ group, kind }: { readonly group?: string; readonly kind: string }): boolean {
  return kind === "Service" && (group === "" || group === "core");
}

import {
  type HeaderChanges,
  type HeaderMatch,
  isService,
  type MeshRoute,
  type RouteBackend,
  type RouteKind,
  type RouteMatch,
  type RouteParent,
  type RouteRule,
} from "./mesh-route.js";
import type { ObjectShape } from "./object-shape.js";

/** What both kinds of routes have. */
interface RouteShape extends ObjectShape {
  readonly metadata?: ObjectShape["metadata"] & { readonly creationTimestamp?: string; readonly generation?: number };
  readonly spec?: {
    readonly hostnames?: readonly string[];
    readonly parentRefs?: readonly ParentShape[];
    readonly rules?: readonly RuleShape[];
  };
}

interface ParentShape {
  readonly group?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name: string;
  readonly sectionName?: string;
  readonly port?: number;
}

/** What the rules of both kinds have; a kind has more. */
export interface RuleShape {
  readonly matches?: readonly object[];
  readonly filters?: readonly FilterShape[];
  readonly backendRefs?: readonly BackendShape[];
}

interface FilterShape {
  readonly type: string;
  readonly requestHeaderModifier?: HeaderChanges;
  readonly responseHeaderModifier?: HeaderChanges;
}

interface BackendShape extends Partial<Omit<RouteBackend, "name">> {
  readonly name: string;
  readonly filters?: readonly FilterShape[];
}

/** How the rules of a kind are read. */
export interface RouteReading {
  readonly kind: RouteKind;
  /** What is read of a rule; all else is something that our clients cannot do. */
  readonly ruleFields: readonly string[];
  /** What matches every call. */
  readonly everything: RouteMatch;
  /** `faults` and `notes` are where it says what it does not follow; `field` is where the match, or the rule, is. */
  match(match: object, remarks: Remarks, field: string): RouteMatch;
  more?(rule: RuleShape, remarks: Remarks, field: string): Partial<RouteRule>;
}

/** What is said about a route while it is read. */
export interface Remarks {
  readonly faults: string[];
  readonly notes: string[];
}

/** Reads a route, as the API server writes it. */
export function readMeshRoute(object: ObjectShape, reading: RouteReading): MeshRoute {
  const { metadata = {}, spec = {} } = object as RouteShape;
  const { namespace = "", name = "", uid, creationTimestamp = "", generation = 0 } = metadata;
  const { parentRefs = [], hostnames = [], rules = [] } = spec;
  const notes = hostnames.length > 0 ? ["spec.hostnames: they say nothing about calls of a Service"] : [];
  return {
    kind: reading.kind,
    namespace,
    name,
    uid,
    createdAt: creationTimestamp,
    generation,
    parents: parentRefs
      .filter(({ group, kind = "Gateway" }) => isService({ group, kind }))
      .map((ref) => parentOf(ref, namespace)),
    rules: rules.map((rule, index) => ruleOf(rule, namespace, notes, `spec.rules[${index}]`, reading)),
    notes,
  };
}

function parentOf(ref: ParentShape, own: string): RouteParent {
  const { namespace = own, name, port, sectionName } = ref;
  return { ref, namespace, name, port, portName: sectionName || undefined };
}

function ruleOf(rule: RuleShape, own: string, notes: string[], field: string, reading: RouteReading): RouteRule {
  const faults: string[] = [];
  const remarks = { faults, notes };
  for (const name of Object.keys(rule))
    if (!reading.ruleFields.includes(name)) faults.push(`${field}.${name} is not supported`);
  const { matches = [], filters = [], backendRefs = [] } = rule;
  const read = matches.map((match, index) => reading.match(match, remarks, `${field}.matches[${index}]`));
  backendRefs.forEach(({ filters: ofBackend = [] }, index) => {
    if (ofBackend.length > 0) faults.push(`${field}.backendRefs[${index}].filters are not supported`);
  });
  if (backendRefs.length === 0) notes.push(`${field} has no backendRefs: its calls fail`);
  return {
    matches: read.length > 0 ? read : [reading.everything],
    backends: backendRefs.map(({ group = "", kind = "Service", namespace = own, name, port, weight = 1 }) => {
      return { group, kind, namespace, name, port, weight };
    }),
    ...headerChanges(filters, remarks, field),
    ...reading.more?.(rule, remarks, field),
    faults,
  };
}

function headerChanges(filters: readonly FilterShape[], { faults, notes }: Remarks, field: string): Partial<RouteRule> {
  let changes: Partial<RouteRule> = {};
  filters.forEach(({ type, requestHeaderModifier, responseHeaderModifier }, index) => {
    const at = `${field}.filters[${index}]`;
    if (type === "RequestHeaderModifier") changes = { ...changes, requestHeaders: requestHeaderModifier };
    else if (type === "ResponseHeaderModifier") changes = { ...changes, responseHeaders: responseHeaderModifier };
    else {
      faults.push(`${at}: the type ${type} is not supported`);
      return;
    }
    notes.push(`${at}: gRPC's clients change no headers, only Envoys do`);
  });
  return changes;
}

interface HeaderShape {
  readonly type?: string;
  readonly name: string;
  readonly value: string;
}

/** Reads the headers that a match wants; of several with one name, the first counts. */
export function readHeaders(
  headers: readonly HeaderShape[],
  { faults, notes }: Remarks,
  field: string,
): readonly HeaderMatch[] {
  const found = new Map<string, HeaderMatch>();
  headers.forEach(({ type = "Exact", name: written, value }, index) => {
    const at = `${field}.headers[${index}]`;
    const kind = matchKinds[type];
    const name = written.toLowerCase();
    if (kind === undefined) faults.push(`${at}: the type ${type} is not supported`);
    if (name.endsWith("-bin")) notes.push(`${at}: gRPC's clients match no header whose name ends with -bin`);
    if (!found.has(name)) found.set(name, { name, kind: kind ?? "exact", value });
  });
  return [...found.values()];
}

/** By the word of the API. */
export const matchKinds: Readonly<Record<string, HeaderMatch["kind"] | undefined>> = {
  Exact: "exact",
  RegularExpression: "regex",
};

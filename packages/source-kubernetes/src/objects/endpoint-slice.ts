import { type Family, isTcp, type ObjectShape } from "./object-shape.js";

/** The label of a slice that names its Service. */
export const serviceLabel = "kubernetes.io/service-name";

/** Something that answers for a Service: usually a pod. */
export interface SliceEndpoint {
  readonly address: string;
  readonly zone: string;
  /** The zones whose clients are to call it first, as the slice says. */
  readonly forZones: readonly string[];
  /** The nodes whose clients are: those of its hints, or its own. */
  readonly forNodes: readonly string[];
  /** `ready`: it takes new calls. `leaving`: it ends, and still answers. `away`: it answers nothing. */
  readonly state: "ready" | "leaving" | "away";
  /** What it is: in slices of two families it is the same. Undefined: nobody says. */
  readonly target: string | undefined;
}

/** A part of the endpoints of a Service. */
export interface EndpointSlice {
  readonly namespace: string;
  /** The Service; empty: of none. */
  readonly service: string;
  readonly family: Family;
  /** Those over TCP. A name is empty where there is none. */
  readonly ports: readonly { readonly name: string; readonly port: number }[];
  readonly endpoints: readonly SliceEndpoint[];
}

interface SliceShape extends ObjectShape {
  readonly addressType?: string;
  readonly ports?: readonly { readonly name?: string; readonly port?: number; readonly protocol?: string }[] | null;
  readonly endpoints?: readonly EndpointShape[] | null;
}

interface EndpointShape {
  readonly addresses?: readonly string[];
  readonly zone?: string;
  readonly nodeName?: string;
  readonly hints?: { readonly forZones?: readonly HintedPlace[]; readonly forNodes?: readonly HintedPlace[] };
  readonly conditions?: {
    readonly ready?: boolean | null;
    readonly serving?: boolean | null;
    readonly terminating?: boolean | null;
  };
  readonly targetRef?: {
    readonly kind?: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly uid?: string;
  };
}

interface HintedPlace {
  readonly name: string;
}

/** Reads a slice, as the API server writes it. Undefined: its addresses are names, which no client of ours takes. */
export function readEndpointSlice(object: ObjectShape): EndpointSlice | undefined {
  const { metadata = {}, addressType, ports, endpoints } = object as SliceShape;
  if (addressType !== "IPv4" && addressType !== "IPv6") return undefined;
  return {
    namespace: metadata.namespace ?? "",
    service: metadata.labels?.[serviceLabel] ?? "",
    family: addressType,
    // Without a number all ports are meant: nobody could call it.
    ports: (ports ?? []).filter(isTcp).flatMap(({ name = "", port }) => (port === undefined ? [] : [{ name, port }])),
    endpoints: (endpoints ?? []).flatMap(readEndpoint),
  };
}

/** All its addresses mean the same: one is enough. */
function readEndpoint(endpoint: EndpointShape): readonly SliceEndpoint[] {
  const { addresses, zone = "", nodeName, hints = {}, conditions = {}, targetRef } = endpoint;
  const [address] = addresses ?? [];
  if (address === undefined) return [];
  const forZones = (hints.forZones ?? []).map(({ name }) => name);
  const forNodes = hints.forNodes?.map(({ name }) => name) ?? (nodeName === undefined ? [] : [nodeName]);
  return [{ address, zone, forZones, forNodes, state: stateOf(conditions), target: targetOf(targetRef) }];
}

/** A condition that nobody knows is as good as one that holds, and what serves as what is ready. */
function stateOf({ ready, serving, terminating }: NonNullable<EndpointShape["conditions"]>): SliceEndpoint["state"] {
  if (ready ?? true) return "ready";
  return terminating === true && (serving ?? false) ? "leaving" : "away";
}

function targetOf(target: EndpointShape["targetRef"]): string | undefined {
  return target && (target.uid ?? `${target.kind}/${target.namespace}/${target.name}`);
}

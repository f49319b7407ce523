import type { PolicyFault } from "./object-fault.js";
import { type Family, isTcp, type ObjectShape } from "./object-shape.js";
import { type Policy, readPolicy } from "./policy.js";

/** A port of a Service; its name is empty if it has none. */
export interface ServicePort {
  readonly name: string;
  readonly port: number;
  /** Whether its pods speak HTTP/2 in plain text, as those of gRPC do. */
  readonly isHttp2: boolean;
}

/** A Service of Kubernetes, as far as it decides what is served. */
export interface KubernetesService {
  readonly namespace: string;
  readonly name: string;
  /** Another one if it was deleted and made anew; undefined: nobody says. */
  readonly uid: string | undefined;
  /** Set: a name of DNS that stands for it. */
  readonly externalName: string | undefined;
  /** Those over TCP. */
  readonly ports: readonly ServicePort[];
  /** The family that clients take first; undefined: it is not said. */
  readonly family: Family | undefined;
  /** Which pods a client calls first: those of its zone, or of its node; undefined: all alike. */
  readonly distribution: "zone" | "node" | undefined;
  readonly policy: Policy;
  /** The annotations that are not used. */
  readonly faults: readonly PolicyFault[];
}

interface ServiceShape extends ObjectShape {
  readonly spec?: {
    readonly type?: string;
    readonly externalName?: string;
    readonly trafficDistribution?: string;
    readonly ipFamilies?: readonly Family[];
    readonly ports?: readonly PortShape[];
  };
}

interface PortShape {
  readonly name?: string;
  readonly port: number;
  readonly protocol?: string;
  readonly appProtocol?: string;
}

/** Kubernetes' own word for it, and that of meshes. */
const http2 = ["kubernetes.io/h2c", "grpc"];

const distributions: Readonly<Record<string, KubernetesService["distribution"]>> = {
  // An older word for the same.
  PreferClose: "zone",
  PreferSameZone: "zone",
  PreferSameNode: "node",
};

/** Reads a Service, as the API server writes it. */
export function readService(object: ObjectShape): KubernetesService {
  const { metadata = {}, spec = {} } = object as ServiceShape;
  const { type, externalName, trafficDistribution = "", ipFamilies, ports = [] } = spec;
  const read = readPolicy(metadata.annotations ?? {});
  return {
    namespace: metadata.namespace ?? "",
    name: metadata.name ?? "",
    uid: metadata.uid,
    externalName: type === "ExternalName" ? externalName : undefined,
    ports: ports.filter(isTcp).map(readPort),
    family: ipFamilies?.[0],
    distribution: read.policy.failover ?? distributions[trafficDistribution],
    ...read,
  };
}

function readPort({ name = "", port, appProtocol = "" }: PortShape): ServicePort {
  return { name, port, isHttp2: http2.includes(appProtocol) };
}

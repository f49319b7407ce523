import type { Network } from "../basics/network.js";
import type { Scene } from "../basics/scene.js";
import type { KubeApiserver, KubernetesObject } from "../peers/kube-apiserver.js";
import { type GrpcBackend, startGrpcBackend } from "../traffic/grpc-backend.js";

/** A pod of a Service, as its EndpointSlice shows it. */
export interface Pod {
  readonly name: string;
  readonly address: string;
  readonly backend: GrpcBackend;
  zone: string;
  /** The zone whose clients it is for. */
  hint?: string | undefined;
  /** `leaving`: it ends, and still answers. */
  state: "ready" | "starting" | "leaving";
}

const namespace = "shop";
/** The port on which pods listen, which is not that of the Service. */
const podPort = 9000;

/** A Service with pods, whose EndpointSlices are written as their controller writes them. */
export class PodsOfService {
  readonly name: string;
  readonly pods: Pod[] = [];
  readonly #api: KubeApiserver;
  readonly #scene: Scene;
  readonly #network: Network;

  constructor(api: KubeApiserver, scene: Scene, network: Network, name: string) {
    this.#api = api;
    this.#scene = scene;
    this.#network = network;
    this.name = name;
  }

  get service(): KubernetesObject {
    return {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: this.name, namespace },
      spec: {
        selector: { app: this.name },
        // Else Envoys speak HTTP/1.1 to its pods.
        ports: [{ name: "grpc", port: 8080, protocol: "TCP", targetPort: podPort, appProtocol: "kubernetes.io/h2c" }],
      },
    };
  }

  /** Starts a pod that answers with its name. It is in no slice until `write`. */
  async add(name: string, zone: string): Promise<Pod> {
    const address = await this.#network.address();
    const backend = await startGrpcBackend(this.#scene, name, `${address}:${podPort}`);
    const pod: Pod = { name, address, backend, zone, state: "ready" };
    this.pods.push(pod);
    return pod;
  }

  /** It is in no slice any more, once `write` was called. */
  drop(pod: Pod): void {
    this.pods.splice(this.pods.indexOf(pod), 1);
  }

  /** Writes the slices: each has two pods, as those of many pods have a hundred. */
  async write(): Promise<void> {
    const slices = Math.max(2, Math.ceil(this.pods.length / 2));
    for (let index = 0; index < slices; index += 1) {
      await this.#api.put(this.#slice(`${this.name}-${index}`, this.pods.slice(2 * index, 2 * index + 2)));
    }
  }

  #slice(name: string, pods: readonly Pod[]): KubernetesObject {
    return {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      addressType: "IPv4",
      metadata: {
        name,
        namespace,
        labels: {
          "kubernetes.io/service-name": this.name,
          "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
        },
      },
      ports: [{ name: "grpc", port: podPort, protocol: "TCP" }],
      endpoints: pods.map(({ name: pod, address, zone, hint, state }) => ({
        addresses: [address],
        zone,
        nodeName: `node-of-${zone}`,
        conditions: { ready: state === "ready", serving: state !== "starting", terminating: state === "leaving" },
        ...(hint === undefined ? {} : { hints: { forZones: [{ name: hint }] } }),
        targetRef: { kind: "Pod", namespace, name: pod, uid: `uid-of-${pod}` },
      })),
    };
  }
}

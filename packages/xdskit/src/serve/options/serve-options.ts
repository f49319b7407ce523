import type { References } from "@xdskit/server";
import type { Address } from "@xdskit/server/address";
import type { ServingOptions } from "../../daemon/serving.js";
import type { StoreUrl } from "../../settings/options/store-url.js";
import type { ServedFolderOptions } from "../folder/served-folder.js";

/** Which Services of a Kubernetes cluster are served. */
export interface KubernetesSettings {
  /** Undefined: where a pod, or kubectl, looks. */
  readonly kubeconfig: string | undefined;
  /** Undefined: all. */
  readonly namespaces: readonly string[] | undefined;
  readonly selector: string | undefined;
  /** The labels of the Secrets that are served; undefined: none. */
  readonly tlsSecrets: string | undefined;
  /** The labels of the ConfigMaps that are served as folders; undefined: none. */
  readonly configMaps: string | undefined;
  /** Whether routes of the Gateway API are followed, and their status is written. */
  readonly gatewayApi: boolean;
  /** Whether the owners of Services are told by Events what is wrong. */
  readonly writesEvents: boolean;
}

/** The options of `serve`. */
export interface ServeOptions extends ServingOptions, ServedFolderOptions {
  readonly settings?: string;
  /** Where revisions are kept, or `off`; undefined: a folder of the served folder's own. */
  readonly state?: string;
  /** Where they are kept instead. */
  readonly store?: StoreUrl;
  /** The policy for changes that break references; undefined: the settings decide. */
  readonly references?: References;
  /** The cluster whose Services are served as well; undefined: none. */
  readonly kubernetes: KubernetesSettings | undefined;
  /** Undefined: what the settings say. */
  readonly workers?: number | "auto";
  /** Where other servers of the store ask this one; undefined: they do not. */
  /** Where they reach it, if that is another address. */
  readonly advertise?: Address;
}

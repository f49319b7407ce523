export { type ConnectOptions, connectToKubernetes } from "./connection/connect.js";
export type { Credentials, KubernetesConnection } from "./connection/connection.js";
export type { Environment } from "./connection/in-cluster.js";
export {
  createKubernetesSource,
  type KubernetesSource,
  type KubernetesSourceOptions,
  type KubernetesStatus,
  kubernetesLayer,
  kubernetesLocalityTypes,
} from "./kubernetes-source.js";
export { configMapLayer } from "./resources/config-map-folders.js";
export { createTokenReview, type TokenReviewOptions } from "./token-review.js";

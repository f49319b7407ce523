export type { EtcdOptions } from "./client/etcd-client.js";
export { type EtcdStoreOptions, openEtcdStore } from "./open-etcd-store.js";

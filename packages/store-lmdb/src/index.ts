export { type OpenedStore, openLmdbStore } from "./open-lmdb-store.js";

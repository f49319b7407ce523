export { type OpenedStore, openLmdbStore, readLmdbStore } from "./open-lmdb-store.js";

export { type OpenedStore, openSqliteStore, readSqliteStore } from "./open-sqlite-store.js";

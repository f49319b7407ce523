import type { Store } from "../../contracts/stores/store.js";
import { MemoryTables } from "./memory-tables.js";
import { RevisionStore } from "./revision-store.js";

/** A store that lasts as long as the process: for tests, and for servers that need history and no state. */
export function createMemoryStore(): Promise<Store> {
  return RevisionStore.open("memory", new MemoryTables());
}

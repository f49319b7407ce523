import { getOrInsert } from "@xdskit/api";
import type { Reader, TableName, Tables, Writer } from "./tables.js";

/** Tables that last as long as the process. */
export class MemoryTables implements Tables {
  readonly #tables = new Map<TableName, Map<string, unknown>>();

  read<T>(work: (reader: Reader) => T): T {
    return work(this.#writer);
  }

  async write<T>(work: (writer: Writer) => T): Promise<T> {
    return work(this.#writer);
  }

  async close(): Promise<void> {}

  #table(name: TableName): Map<string, unknown> {
    return getOrInsert(this.#tables, name, () => new Map());
  }

  readonly #writer: Writer = {
    get: <T>(table: TableName, key: string) => this.#table(table).get(key) as T | undefined,
    range: <T>(table: TableName, prefix: string, order = "ascending") => {
      const found = [...this.#table(table)].filter(([key]) => key.startsWith(prefix)) as (readonly [string, T])[];
      found.sort(([a], [b]) => (a < b ? -1 : 1));
      return order === "ascending" ? found : found.reverse();
    },
    put: (table, key, value) => void this.#table(table).set(key, value),
    remove: (table, key) => void this.#table(table).delete(key),
  };
}

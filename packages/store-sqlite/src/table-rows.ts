import { damaged, type TableName, tableNames, type Writer } from "@xdskit/server/tables";
import type { Cell, SqliteConnection, Statement } from "./sqlite-connection.js";

/** After the last possible key with a prefix: keys are ASCII. */
const afterAll = "\u007f";

/** This many rows are read at once: a statement that is not read to its end keeps its transaction. */
const page = 500;

/** In bytes; the first ones of a hash. */
const sumLength = 8;

const sumOf = (table: TableName, key = "key", value = "value") =>
  `substr(sha3('${table} ' || ${key} || ${value}, 256), 1, ${sumLength})`;

/**
 * Makes the tables. Each row has a sum of what it holds, so that damage within a page is found when the row is read.
 * SQLite has the key once more in its index, and its own check compares the two, so that no row is missing unnoticed.
 */
export const makeTables = tableNames
  .map(
    (name) => `CREATE TABLE "${name}" (key TEXT NOT NULL PRIMARY KEY, value BLOB NOT NULL, sum BLOB NOT NULL) STRICT`,
  )
  .join(";\n");

/** The tables by one connection, within one transaction. */
export class TableRows implements Writer {
  readonly #connection: SqliteConnection;
  readonly #file: string;
  readonly #statements = new Map<string, Statement>();
  /** Whether something was written since this was set. */
  isChanged = false;

  /** `file`: for errors. */
  constructor(connection: SqliteConnection, file: string) {
    this.#connection = connection;
    this.#file = file;
  }

  get<T>(table: TableName, key: string): T | undefined {
    const row = this.#statement(`SELECT ${cells(table)} FROM "${table}" WHERE key = ?1`).get([key]);
    return row && this.#value<T>(table, row);
  }

  *range<T>(
    table: TableName,
    prefix: string,
    order: "ascending" | "descending" = "ascending",
  ): Iterable<readonly [string, T]> {
    const [after, direction] = order === "ascending" ? [">", "ASC"] : ["<", "DESC"];
    const select = `SELECT ${cells(table)}, CAST(key AS BLOB) FROM "${table}"`;
    const first = this.#statement(`${select} WHERE key >= ?1 AND key < ?2 ORDER BY key ${direction} LIMIT ${page}`);
    const further = this.#statement(
      `${select} WHERE key >= ?1 AND key < ?2 AND key ${after} ?3 ORDER BY key ${direction} LIMIT ${page}`,
    );
    const ends = [prefix, prefix + afterAll];
    let rows = first.all(ends);
    while (rows.length > 0) {
      let last = "";
      for (const row of rows) {
        last = textOf(row[2]);
        yield [last, this.#value<T>(table, row)];
      }
      rows = rows.length < page ? [] : further.all([...ends, last]);
    }
  }

  put(table: TableName, key: string, value: unknown): void {
    this.isChanged = true;
    const into = `INSERT INTO "${table}" VALUES (?1, ?2, ${sumOf(table, "?1", "?2")})`;
    const bytes = table === "contents" ? value : Buffer.from(JSON.stringify(value));
    this.#statement(`${into} ON CONFLICT DO UPDATE SET value = excluded.value, sum = excluded.sum`).run([key, bytes]);
  }

  remove(table: TableName, key: string): void {
    this.isChanged = true;
    this.#statement(`DELETE FROM "${table}" WHERE key = ?1`).run([key]);
  }

  #value<T>(table: TableName, [value, isWhole]: readonly Cell[]): T {
    if (isWhole !== 1) throw damaged(wrongRow(table), { file: this.#file });
    return (table === "contents" ? value : JSON.parse(textOf(value))) as T;
  }

  #statement(sql: string): Statement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#connection.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

/**
 * Why the file is damaged: all of it is looked at, in another thread. Undefined: it is whole. Throws SQLite's errors,
 * which may mean damage, too.
 */
export async function damageIn(connection: SqliteConnection): Promise<string | undefined> {
  const [verdict] = (await connection.firstAside(checkPages)) ?? [];
  const text = textOf(verdict);
  if (text !== "ok") return text.replace(/\s+/g, " ");
  for (const name of tableNames) {
    const wrong = await connection.firstAside(`SELECT 1 FROM "${name}" WHERE sum IS NOT ${sumOf(name)} LIMIT 1`);
    if (wrong !== undefined) return wrongRow(name);
  }
  return (await connection.firstAside(checkContents)) && "a content is missing";
}

/** SQLite's check of all pages, rows and indexes. */
const checkPages = "SELECT CAST(integrity_check AS BLOB) FROM pragma_integrity_check(1)";

const checkContents = 'SELECT 1 FROM "references" WHERE key NOT IN (SELECT key FROM contents) LIMIT 1';

function wrongRow(table: TableName): string {
  return `a row of ${table} is not what was written`;
}

const cells = (table: TableName) => `CAST(value AS BLOB), sum IS ${sumOf(table)}`;

function textOf(cell: Cell | undefined): string {
  return cell instanceof Uint8Array ? Buffer.from(cell).toString() : "";
}

import { randomBytes } from "node:crypto";
import { rename, rm, stat, writeFile } from "node:fs/promises";
import { Acknowledged, type AcknowledgedLine } from "./acknowledged.js";
import { type OpenedAs, SqliteConnection } from "./sqlite-connection.js";
import { isOfSystem, reasonOf } from "./store-errors.js";
import { damageIn, makeTables, TableRows } from "./table-rows.js";

/** The first format is the only one. A new number marks files that this version would misread. */
const format = 1;

/** What there is of a store. */
export type StoreFileState =
  | { readonly kind: "nothing" }
  | { readonly kind: "damaged"; readonly damage: string }
  | { readonly kind: "newer"; readonly reason: string }
  /** `missing`: this many of the newest transactions, which somebody was told are safe, are not there. */
  | { readonly kind: "whole"; readonly missing: number };

const nothing: StoreFileState = { kind: "nothing" };

/** Looks at all of a store, and changes nothing of what it holds. Rejects if the system does not let it. */
export async function lookAt(file: string, as: OpenedAs = "to read"): Promise<StoreFileState> {
  const acknowledged = new Acknowledged(file);
  try {
    const [size, known] = [await sizeOf(file), await acknowledged.read()];
    const isSealed = known !== undefined && known.seal === (await acknowledged.sealNow());
    const looked = size > 0 ? await lookInto(file, as, known, isSealed) : nothing;
    if (looked.kind !== "nothing" || (known?.number ?? 0) === 0) return looked;
    return { kind: "damaged", damage: size < 0 ? "it is gone" : "it is empty" };
  } finally {
    acknowledged.close();
  }
}

/** `isSealed`: it is as it was when it was whole. */
async function lookInto(
  file: string,
  as: OpenedAs,
  known: AcknowledgedLine | undefined,
  isSealed: boolean,
): Promise<StoreFileState> {
  let connection: SqliteConnection | undefined;
  try {
    connection = new SqliteConnection(file, as);
    const [tables] = connection.prepare("SELECT count(*) FROM sqlite_schema").get([]) ?? [];
    // The process that was making the file was killed.
    if (tables === 0) return nothing;
    const rows = new TableRows(connection, file);
    const found = rows.get<number>("meta", "format") ?? 0;
    if (found > format)
      return { kind: "newer", reason: `a newer xdskit wrote it, in format ${found}; this one reads format ${format}` };
    const damage = isSealed ? undefined : await damageIn(connection);
    if (damage !== undefined) return { kind: "damaged", damage };
    const { store, number } = lineOf(rows);
    return { kind: "whole", missing: known?.store === store ? Math.max(0, known.number - number) : 0 };
  } catch (error) {
    if (isOfSystem(error)) throw error;
    return { kind: "damaged", damage: reasonOf(error) };
  } finally {
    connection?.close();
  }
}

/** Makes an empty store, which only its owner can read. */
export async function makeStore(file: string): Promise<void> {
  // A process may have been killed while it was making it.
  await writeFile(file, "", { flag: "wx", mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  const connection = new SqliteConnection(file);
  try {
    connection.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; BEGIN IMMEDIATE; ${makeTables}`);
    const rows = new TableRows(connection, file);
    rows.put("meta", "format", format);
    rows.put("meta", "store", randomBytes(12).toString("base64url"));
    await connection.execAside("COMMIT");
  } finally {
    connection.rollback();
    connection.close();
  }
}

/** What is missing is known from now on: the number of the newest transaction is that of the store. */
export async function accept(file: string): Promise<void> {
  const connection = new SqliteConnection(file, "to read");
  const acknowledged = new Acknowledged(file);
  try {
    await acknowledged.write(lineOf(new TableRows(connection, file)));
  } finally {
    acknowledged.close();
    connection.close();
  }
}

function lineOf(rows: TableRows): AcknowledgedLine {
  return { store: rows.get("meta", "store") ?? "", number: rows.get("meta", "transaction") ?? 0, seal: "" };
}

/** Gives a store another name, which it returns, beside its own. Undefined: there is none. */
export async function setAside(file: string): Promise<string | undefined> {
  const aside = `${file}.set-aside-${new Date().toISOString().replace(/[-:.]/g, "")}`;
  const isMoved = await renamed(file, aside);
  // What is not in the file yet. SQLite finds it beside the file.
  await renamed(`${file}-wal`, `${aside}-wal`);
  await rm(`${file}-shm`, { force: true });
  await Acknowledged.remove(file);
  return isMoved ? aside : undefined;
}

async function renamed(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return false;
  }
}

/** In bytes; -1: there is no file. */
export async function sizeOf(file: string): Promise<number> {
  return await stat(file).then(
    ({ size }) => size,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
      return -1;
    },
  );
}

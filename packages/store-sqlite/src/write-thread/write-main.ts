import { parentPort, workerData } from "node:worker_threads";
import { commitLayers, forgetOld, type LayerCommit, type StoredResource } from "@xdskit/server/tables";
import { SqliteTables } from "../sqlite-tables.js";
import { isOfSystem, reasonOf } from "../store-errors.js";
import type { CommitPart, WriteAnswer, WriteRequest, WriteStart } from "./write-messages.js";

const { file } = workerData as WriteStart;
const port = parentPort as NonNullable<typeof parentPort>;
const parts = new Map<number, CommitPart[]>();

port.on("message", (request: WriteRequest) => {
  if (request.kind === "part") {
    const { part } = request;
    parts.set(part.at, [...(parts.get(part.at) ?? []), part]);
    return;
  }
  void write(request).then((answer) => port.postMessage(answer));
});

async function write(request: Exclude<WriteRequest, { readonly kind: "part" }>): Promise<WriteAnswer> {
  let tables: SqliteTables | undefined;
  try {
    tables = new SqliteTables(file, { mayWait: true });
    if (request.kind === "retain")
      return { result: await tables.write((writer) => forgetOld(writer, request.retention)), unwritten: undefined };
    const layers = [...parts.values()].map(layerCommit);
    return {
      result: await tables.write((writer) => commitLayers(writer, layers, request.info, request.ahead)),
      unwritten: undefined,
    };
  } catch (error) {
    // Of other errors the main thread finds the reason when it tries it.
    return { result: undefined, unwritten: tables !== undefined && isOfSystem(error) ? reasonOf(error) : undefined };
  } finally {
    await tables?.close();
  }
}

const nothing = { layer: "", parent: undefined, kind: "patch", always: false, cause: undefined } as const;

function layerCommit(all: readonly CommitPart[]): LayerCommit {
  const [{ layer, parent, kind, always, cause } = nothing] = all;
  const upsert = all.flatMap((part) => part.upsert.map(withoutContent));
  return { layer, parent, kind, always, cause, upsert, remove: all.flatMap((part) => part.remove) };
}

function withoutContent(key: CommitPart["upsert"][number]): StoredResource {
  return {
    ...key,
    get bytes(): never {
      throw new Error("its content went meanwhile");
    },
  };
}

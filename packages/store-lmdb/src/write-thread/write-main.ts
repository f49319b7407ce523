import { parentPort, workerData } from "node:worker_threads";
import { commitLayers, forgetOld, type LayerCommit, type StoredResource } from "@xdskit/server/tables";
import { systemError } from "../durable-writes.js";
import { LmdbTables } from "../lmdb-tables.js";
import type { CommitPart, WriteAnswer, WriteRequest, WriteStart } from "./write-messages.js";

const { file } = workerData as WriteStart;
const port = parentPort as NonNullable<typeof parentPort>;
/** Undefined: it cannot be opened. */
const opened = LmdbTables.open(file).catch(() => undefined);
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
  const tables = await opened;
  if (tables === undefined) return { result: undefined };
  try {
    if (request.kind === "retain")
      return { result: await tables.write((writer) => forgetOld(writer, request.retention)) };
    const layers = [...parts.values()].map(layerCommit);
    return { result: await tables.write((writer) => commitLayers(writer, layers, request.info, request.ahead)) };
  } catch (error) {
    const unwritten = systemError(error);
    // The main thread tries it, and reports the error.
    return { result: undefined, ...(unwritten === undefined ? {} : { unwritten }) };
  } finally {
    await tables.close();
  }
}

function layerCommit(all: readonly CommitPart[]): LayerCommit {
  const [{ layer, parent, kind, always } = { layer: "", parent: undefined, kind: "patch", always: false } as const] =
    all;
  const upsert = all.flatMap((part) => part.upsert.map(withoutContent));
  return { layer, parent, kind, always, upsert, remove: all.flatMap((part) => part.remove) };
}

function withoutContent(key: CommitPart["upsert"][number]): StoredResource {
  return {
    ...key,
    get bytes(): never {
      throw new Error("its content went meanwhile");
    },
  };
}

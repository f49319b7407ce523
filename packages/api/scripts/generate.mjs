// Makes `gen/` from the table of Envoy's API in `schema/`: one typed module a proto file, and one descriptor set for
// the registry. The table has no comments: what the protos' authors say of their fields comes from the protos in a
// package of gRPC's. Nothing of it is committed.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { create, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { tsImport } from "tsx/esm/api";
import { readPackage, typedModules } from "./typed-modules.mjs";

const protos = readPackage("@grpc/grpc-js-xds");
await typedModules({
  packageDir: fileURLToPath(new URL("..", import.meta.url)),
  inputs: ["schema", "schema/packages", "src/schema"],
  versions: protos.version,
  make,
});

async function make() {
  const { readTable, sinceFile } = await tsImport("../src/schema/table.ts", import.meta.url);
  const { readExtensions } = await tsImport("../src/schema/extensions.ts", import.meta.url);
  const { readSlots } = await tsImport("../src/schema/slots.ts", import.meta.url);
  const { readComments } = await tsImport("../src/schema/read-comments.ts", import.meta.url);
  const files = readTable();
  const folders = ["envoy-api", "xds"].map((name) => join(protos.folder, "deps", name));
  const more = {
    "envoy.binpb": toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: [...files] })),
    "since.json": readFileSync(sinceFile),
    "extensions.json": JSON.stringify({ types: typesOf(readExtensions()), slots: readSlots() }),
    "comments.json": JSON.stringify(readComments(folders, files)),
  };
  return { files, more };
}

/** The categories in which a message configures an extension of a plain Envoy, by its full name. */
function typesOf(extensions) {
  const found = {};
  for (const { category, types } of extensions)
    for (const type of types) found[type] = [...new Set([...(found[type] ?? []), category])];
  return found;
}

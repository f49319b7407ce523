// `npm run schema -w @xdskit/store-etcd -- --from v3.7.0` makes `schema/` of that version of etcd's Go module, and
// `-- --check` says whether it is what the module makes. Both need Go, for the download only.
import { readFileSync, writeFileSync } from "node:fs";
import { posix } from "node:path";
import { parseArgs } from "node:util";
import { fromJson, toJson } from "@bufbuild/protobuf";
import { usedTypes } from "@bufbuild/protobuf/reflect";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { goDescriptorsIn } from "../../api/src/schema/making/go-descriptors.ts";
import { download } from "../../api/src/schema/making/go-modules.ts";
import { formatPackage } from "../../api/src/schema/making/table-text.ts";
import { registryOf } from "../../api/src/schema/table.ts";

/** The methods that are called, by their services. The table has these, and the messages that they reach. */
const called = {
  KV: ["Range", "Txn"],
  Lease: ["LeaseGrant", "LeaseRevoke", "LeaseKeepAlive"],
  Watch: ["Watch"],
  Auth: ["Authenticate"],
};
const folder = new URL("../schema/", import.meta.url);
const { from, check } = parseArgs({ options: { from: { type: "string" }, check: { type: "boolean" } } }).values;
if ((from === undefined) !== (check === true)) throw new Error("give either --from VERSION or --check");

const [path, version] = readFileSync(new URL("module.txt", folder), "utf8").split(" ");
const module = download(path, from ?? version);
const files = pruned(goDescriptorsIn(module.folder));
for (const [name, text] of [
  ["module.txt", `${path} ${module.version} ${module.sum}\n`],
  ["etcd.json", formatPackage(files, registryOf(files))],
]) {
  const file = new URL(name, folder);
  if (!check) writeFileSync(file, text);
  else if (readFileSync(file, "utf8") !== text) throw new Error(`schema/${name} is not what ${path} ${version} makes`);
}

/** What the called methods need of the files, without options and what defines these. */
function pruned(all) {
  const files = all.map((file) => {
    const json = JSON.stringify(toJson(FileDescriptorProtoSchema, file));
    const plain = JSON.parse(json, (key, value) => (/^(options|extension)$/.test(key) ? undefined : value));
    return fromJson(FileDescriptorProtoSchema, plain);
  });
  const importsOf = (file, known) =>
    // A file is registered by its last name, and imported by its whole one.
    file.dependency.map((name) => posix.basename(name)).filter((name) => known.some((other) => other.name === name));
  for (const file of files) file.dependency = importsOf(file, files);

  const reached = new Set();
  const reach = (type) => {
    if (reached.has(type.typeName)) return;
    reached.add(type.typeName);
    if (type.kind === "message") for (const used of usedTypes(type)) reach(used);
  };
  const registry = registryOf(files);
  for (const [service, names] of Object.entries(called))
    for (const { name, input, output } of registry.getService(`etcdserverpb.${service}`).methods)
      if (names.includes(name)) for (const type of [input, output]) reach(type);

  const prune = (holder, messages, scope) => {
    const isReached = ({ name }) => reached.has(`${scope}.${name}`);
    holder.enumType = holder.enumType.filter(isReached);
    holder[messages] = holder[messages].filter(isReached);
    for (const message of holder[messages]) prune(message, "nestedType", `${scope}.${message.name}`);
  };
  for (const file of files) {
    prune(file, "messageType", file.package);
    file.service = file.service.filter(({ name }) => name in called);
    for (const service of file.service)
      service.method = service.method.filter(({ name }) => called[service.name].includes(name));
  }
  const needed = files.filter(({ messageType }) => messageType.length > 0);
  for (const file of needed) file.dependency = importsOf(file, needed);
  return needed;
}

import type { FileDescriptorProto } from "@bufbuild/protobuf/wkt";
import { formatSlots } from "../slots.js";
import { registryOf } from "../table.js";
import { goDescriptorsIn } from "./go-descriptors.js";
import { contribModule, download, envoyModule, type GoModule } from "./go-modules.js";
import { goSlotsIn } from "./go-slots.js";
import { sinceByName, type VersionReading } from "./since-by-name.js";
import { formatPackage } from "./table-text.js";

/**
 * The files of the table, by their names in its folder, from modules: the API of the newest version of Envoy, the
 * categories of extensions, and since when each element exists. Throws a plain error if a module changed, or has
 * something that the table would lose.
 */
export function makeTable(modules: readonly GoModule[]): ReadonlyMap<string, string> {
  const versions = [...new Set(modules.map(({ envoy }) => envoy))];
  const readings = versions.map((version): VersionReading => {
    const its = modules.filter(({ envoy }) => envoy === version);
    return { version, files: filesIn(its, envoyModule), contrib: filesIn(its, contribModule) };
  });
  const newest = readings.at(-1);
  if (newest === undefined) throw new Error("no module is given");
  const envoys = [...newest.files, ...newest.contrib];
  // Imported APIs do not follow Envoy's versions, so they are read once, and nothing says since when their parts exist.
  const imported = modules.filter(({ path }) => !isEnvoys(path)).flatMap(filesOf);
  const wanted = withImports([...envoys, ...imported.filter(isAlwaysWanted)], [...envoys, ...imported]);
  const registry = registryOf(wanted);
  const table = new Map<string, string>();
  for (const name of new Set(wanted.map((file) => file.package))) {
    const files = wanted.filter((file) => file.package === name);
    table.set(`packages/${name}.json`, formatPackage(files, registry));
  }
  const ofNewest = modules.filter(({ envoy, path }) => envoy === newest.version && isEnvoys(path));
  const slots = ofNewest.flatMap(({ path, version }) => goSlotsIn(download(path, version).folder, envoys));
  table.set("slots.txt", formatSlots(slots));
  const since = Object.fromEntries([...sinceByName(readings)].sort());
  return table.set("since.json", `${JSON.stringify(since, null, 1)}\n`);
}

function filesIn(modules: readonly GoModule[], path: string): readonly FileDescriptorProto[] {
  return modules.filter((module) => module.path === path).flatMap(filesOf);
}

function filesOf({ path, version, sum }: GoModule): readonly FileDescriptorProto[] {
  const module = download(path, version);
  if (module.sum !== sum) throw new Error(`${path}@${version} is ${module.sum}, and not ${sum}`);
  const files = goDescriptorsIn(module.folder);
  return isEnvoys(path) ? files.filter(isCurrent) : files;
}

function isEnvoys(path: string): boolean {
  return path === envoyModule || path === contribModule;
}

/** No Envoy speaks v2 any more, and the alpha packages of that time became v3. */
function isCurrent({ name }: FileDescriptorProto): boolean {
  return !/\/v[12](alpha\d*)?\//.test(name);
}

/**
 * Parts of Envoy's imports: all of xDS, since Envoy uses some of it only in an `Any`, and gRPC's common services and
 * messages of its own.
 */
function isAlwaysWanted({ name }: FileDescriptorProto): boolean {
  return /^(xds|udpa|grpc\/health|grpc\/lookup|grpc\/reflection)\//.test(name);
}

function withImports(files: readonly FileDescriptorProto[], known: readonly FileDescriptorProto[]) {
  const byName = new Map(known.map((file) => [file.name, file]));
  const wanted = new Set<FileDescriptorProto>();
  const add = (file: FileDescriptorProto | undefined): void => {
    // A missing file is protobuf's own, or is reported when the files are sorted.
    if (file === undefined || wanted.has(file)) return;
    wanted.add(file);
    for (const name of file.dependency) add(byName.get(name));
  };
  for (const file of files) add(file);
  return [...wanted];
}

import { create, createFileRegistry } from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { inOrder } from "../descriptors.js";
import type { PackageFacts } from "../facts.js";
import { refuseLosses } from "./equal-descriptors.js";
import { factsOf } from "./facts-of.js";
import { goDescriptorsIn } from "./go-descriptors.js";
import { contribModule, download, envoyModule, type GoModule } from "./go-modules.js";
import { type VersionReading, withLives } from "./lives.js";

/**
 * The table from modules: the API of the newest version of Envoy, that version, and since when each element exists.
 * Throws a plain error if a module changed, or has something that the table would lose.
 */
export function makeTable(modules: readonly GoModule[]): readonly PackageFacts[] {
  const newest = modules.at(-1)?.envoy;
  if (newest === undefined) throw new Error("no module is given");
  const older = new Set(modules.map(({ envoy }) => envoy).filter((envoy) => envoy !== newest));
  const readings = [...older].map((version): VersionReading => {
    const its = modules.filter(({ envoy }) => envoy === version);
    const files = (path: string) => filesIn(its, path).map((file) => filed(file));
    return { version, files: files(envoyModule), contrib: files(contribModule) };
  });

  const latest = modules.filter(({ envoy }) => envoy === newest);
  const envoy = filesIn(latest, envoyModule);
  const contrib = filesIn(latest, contribModule);
  const others = latest.filter(({ path }) => path !== envoyModule && path !== contribModule);
  const imported = others.flatMap((module) => filesOf(module));
  const wanted = withImports(
    [...envoy, ...contrib, ...imported.filter(isAlwaysWanted)],
    [...envoy, ...contrib, ...imported],
  );
  const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: inOrder(wanted) }));
  const withOptions = (files: readonly FileDescriptorProto[]) => files.map((file) => filed(file, registry));
  const lived = withLives([...readings, { version: newest, files: withOptions(envoy), contrib: withOptions(contrib) }]);
  const known = new Set([...envoy, ...contrib]);
  // Imported APIs do not follow Envoy's versions, so they have no lives here.
  const foreign = withLives([{ version: newest, files: withOptions(wanted.filter((file) => !known.has(file))) }]);
  const table = [...lived, ...foreign].sort((a, b) => (a.name < b.name ? -1 : 1));
  refuseLosses(wanted, table);
  return table;
}

function filed(file: FileDescriptorProto, registry?: Parameters<typeof factsOf>[1]) {
  return { packageName: file.package, file: factsOf(file, registry) };
}

function filesIn(modules: readonly GoModule[], path: string): readonly FileDescriptorProto[] {
  return modules.filter((module) => module.path === path).flatMap(filesOf);
}

function filesOf({ path, version, sum }: GoModule): readonly FileDescriptorProto[] {
  const module = download(path, version);
  if (module.sum !== sum) throw new Error(`${path}@${version} is ${module.sum}, and not ${sum}`);
  const files = goDescriptorsIn(module.folder);
  return path === envoyModule || path === contribModule ? files.filter(isCurrent) : files;
}

/** No Envoy speaks v2 any more, and the alpha packages of that time became v3. */
function isCurrent({ name }: FileDescriptorProto): boolean {
  return !/\/v[12](alpha\d*)?\//.test(name);
}

/**
 * Parts of Envoy's imports: all of xDS, since Envoy uses some of it only in an `Any`, and gRPC's common services.
 */
function isAlwaysWanted({ name }: FileDescriptorProto): boolean {
  return /^(xds|udpa|grpc\/health|grpc\/reflection)\//.test(name);
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

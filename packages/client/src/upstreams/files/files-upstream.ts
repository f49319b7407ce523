import { type ResourceType, XdskitError } from "@xdskit/api";
import { ReadingThread } from "@xdskit/api/threads";
import type { FilesSettings } from "../../options/client-options.js";
import type { Upstream, UpstreamContext, UpstreamSink } from "../contract/upstream.js";
import { TypeFile } from "./type-file.js";

/**
 * Resources in files, one for each type: each file is the whole state of its type. It is read at the first
 * subscription, and again when another file replaces it; a bad file changes nothing (rules 151–156). Throws an
 * XdskitError for an unknown type, and for a type with two files.
 */
export function createFilesUpstream(settings: FilesSettings, context: UpstreamContext, sink: UpstreamSink): Upstream {
  const files = new Map<ResourceType, TypeFile>();
  const { types, registry, rules: validate } = context;
  const reading = new ReadingThread({ types, registry, validate, envoy: false });
  for (const { type: typeName, path, watchedDirectory } of settings.files) {
    const type = context.types.find(typeName);
    if (type === undefined) {
      throw XdskitError.of("XDSKIT_TYPE_NAME_UNKNOWN", `there is no type ${JSON.stringify(typeName)}`, { file: path });
    }
    if (files.has(type)) {
      throw XdskitError.of("XDSKIT_CLIENT_OPTION", `${type.name} has two files; one file holds all of a type`, {
        file: path,
      });
    }
    files.set(type, new TypeFile(type, path, watchedDirectory, context, sink, reading));
  }
  let closed = false;
  return {
    server: settings.files.map(({ path }) => path).join(", "),
    subscribe(type, names) {
      const file = files.get(type);
      if (file !== undefined) file.subscribe(names);
      else queueMicrotask(() => !closed && sink.failed(type, noFile(type), false));
    },
    unsubscribe: (type, names) => files.get(type)?.unsubscribe(names),
    hold: (type, resources) => files.get(type)?.hold(resources),
    // Content is compared, not versions.
    forgetVersions: () => {},
    status: () => [...files.values()].filter(({ isIdle }) => !isIdle).map((file) => file.status()),
    async close() {
      closed = true;
      // A reading in progress ends.
      reading.close();
      await Promise.all([...files.values()].map((file) => file.close()));
    },
  };
}

function noFile(type: ResourceType): XdskitError {
  return XdskitError.of("XDSKIT_CLIENT_OPTION", `there is no file for ${type.name} resources`, { type: type.name });
}

import { type ResourceType, XdskitError } from "@xdskit/api";
import type { FilesSettings } from "../../client-options.js";
import type { Upstream, UpstreamContext, UpstreamSink } from "../upstream.js";
import { TypeFile } from "./type-file.js";

/**
 * Resources that lie in files, one a type: each is the whole state of its type. It is read when its type is first subscribed to, and again when another is moved over
 * it; a bad one changes nothing (rules 151–156). Throws an XdskitError for a type that is not known, or that has two files.
 */
export function createFilesUpstream(settings: FilesSettings, context: UpstreamContext, sink: UpstreamSink): Upstream {
  const files = new Map<ResourceType, TypeFile>();
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
    files.set(type, new TypeFile(type, path, watchedDirectory, context, sink));
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
    // Content is compared, and never versions.
    forgetVersions: () => {},
    status: () => [...files.values()].filter(({ isIdle }) => !isIdle).map((file) => file.status()),
    async close() {
      closed = true;
      await Promise.all([...files.values()].map((file) => file.close()));
    },
  };
}

function noFile(type: ResourceType): XdskitError {
  return XdskitError.of("XDSKIT_CLIENT_OPTION", `there is no file for ${type.name} resources`, { type: type.name });
}

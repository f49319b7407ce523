import { checkCall, type Resource } from "@xdskit/api";
import type { LayerUpdate, Source, SourceSink } from "../../contracts/source.js";
import type { LayerName } from "../../settings/group-settings.js";

/** A source that a program feeds: resources that it sets before the start are the first configuration. */
export interface MemorySource extends Source {
  /** Makes the layer hold exactly these resources. Throws the server's error, and then nothing was changed. */
  set(resources: readonly Resource[]): void;
  /** Changes some, in one change over as many layers as wanted. Throws as `set` does. */
  apply(updates: readonly LayerUpdate[]): void;
}

/**
 * Resources in memory behind the contract of sources, for programs that choose between sources and for tests.
 * A program that only serves its own resources uses `server.config`.
 */
export function createMemorySource(options: {
  readonly name: string;
  readonly layer: LayerName;
  readonly resources: readonly Resource[];
}): MemorySource {
  const example = '{ name: "mine", layer: "default", resources: [] }';
  const table = { name: "string", layer: "string", resources: "list" } as const;
  checkCall({ call: "createMemorySource", code: "XDSKIT_SERVER_OPTION", example, table }, options);
  const { name, layer } = options;
  let waiting: LayerUpdate[] = [replacement(options.resources)];
  let sink: SourceSink | undefined;
  let closed = false;

  function replacement(resources: readonly Resource[]): LayerUpdate {
    return { layer, kind: "replace", upsert: resources };
  }
  function apply(updates: readonly LayerUpdate[]): void {
    if (closed) return;
    if (sink === undefined) waiting.push(...updates);
    else sink.apply(updates);
  }
  return {
    name,
    set: (resources) => apply([replacement(resources)]),
    apply,
    async start(into) {
      const first = waiting;
      waiting = [];
      into.apply(first);
      sink = into;
      into.report([]);
    },
    async close() {
      closed = true;
      sink = undefined;
    },
  };
}

import type { XdskitError } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import type { Watch } from "../contract/watch.js";
import type { Collection, XdsClient } from "../contract/xds-client.js";

/** The calls of a watcher, a line each: `changed a=1`, `error CODE`, `ambient CODE`. */
export interface Told extends Watch {
  readonly lines: readonly string[];
  /** Its current state: `a=1 b=2`, empty if there is nothing. */
  readonly now: string;
}

/** Watches one cluster. */
export function watchCluster(client: XdsClient, name: string): Told {
  const lines: string[] = [];
  let now = "";
  const watch = client.watch(ClusterSchema, name, {
    onChanged({ message }) {
      now = `${message.name}=${message.altStatName}`;
      lines.push(`changed ${now}`);
    },
    onError(error: XdskitError) {
      now = "";
      lines.push(`error ${error.code}`);
    },
    onAmbient: (error: XdskitError) => void lines.push(`ambient ${error.code}`),
  });
  return told(lines, () => now, watch);
}

/** Watches all clusters. */
export function watchClusters(client: XdsClient): Told {
  const lines: string[] = [];
  let now = "";
  const watch = client.watch("cluster", "*", {
    onChanged({ resources }: Collection) {
      now = [...resources.values()].map(contentOf).sort().join(" ");
      lines.push(`changed ${now}`);
    },
    onError(error: XdskitError) {
      now = "";
      lines.push(`error ${error.code}`);
    },
    onAmbient: (error: XdskitError) => void lines.push(`ambient ${error.code}`),
  });
  return told(lines, () => now, watch);
}

function contentOf({ name, message }: { readonly name: string; readonly message: object }): string {
  return `${name}=${"altStatName" in message ? message.altStatName : ""}`;
}

function told(lines: readonly string[], now: () => string, watch: Watch): Told {
  return {
    lines,
    get now() {
      return now();
    },
    cancel: () => watch.cancel(),
  };
}

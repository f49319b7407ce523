import type { ApiVersion, ResourceType, ResourceTypes } from "@xdskit/api";

/** The type and API of a path. */
export interface Endpoint {
  readonly api: ApiVersion;
  readonly type: ResourceType;
}

const apis: readonly ApiVersion[] = ["v2", "v3"];

/**
 * `/v3/discovery:clusters` and the others: one for each type of the table with a path, in each API that has the type.
 */
export function restPaths(types: ResourceTypes) {
  const endpoints = new Map<string, Endpoint>();
  for (const type of types.all) {
    for (const api of apis) {
      if (type.restPath === undefined || (api === "v2" && type.v2TypeUrl === undefined)) continue;
      endpoints.set(`/${api}/discovery:${type.restPath}`, { api, type });
    }
  }
  return {
    find: (path: string): Endpoint | undefined => endpoints.get(path),
    /** Why a path that `find` does not know has nothing (rule 148). */
    whyNot(path: string): string {
      const [, api = "", word = ""] = /^\/(v\d+)\/(?:delta[-_]?)?discovery:(.*)$/i.exec(path) ?? [];
      if (/^\/v\d+\/delta/i.test(path)) return "over REST there is no incremental discovery; use gRPC for it";
      if (/^(ads|aggregated(-resources)?)$/.test(word)) {
        return "over REST there is no aggregated discovery (ADS); ask for each type by its own path, or use gRPC";
      }
      const type = types.find(word);
      if (type === undefined || word === "") return `there is no such path; there are ${list(endpoints.keys())}`;
      if (type.restPath === undefined) {
        return `${type.abbreviation.toUpperCase()} has no path over REST: it exists only as an incremental stream over gRPC`;
      }
      const known = [...endpoints].filter(([, each]) => each.type === type).map(([each]) => each);
      const inApi = known.find((each) => each.startsWith(`/${api}/`));
      const where = inApi === undefined ? `in ${api}` : "under this word";
      return `${type.abbreviation.toUpperCase()} has no path ${where}; its path is ${inApi ?? known.at(-1)}`;
    },
  };
}

function list(paths: Iterable<string>): string {
  return [...paths].filter((path) => !path.startsWith("/v2/")).join(", ");
}

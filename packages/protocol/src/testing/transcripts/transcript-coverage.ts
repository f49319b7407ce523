import type { Tag } from "./transcript.js";

type List = Tag["list"];

/** The number of points of each list that need a transcript. */
const lists: { readonly [L in List]: readonly number[] } = {
  rule: [...range(1, 139), ...range(157, 162)],
  choice: range(1, 12),
  interop: range(1, 13),
  envoy: range(1, 14),
  grpc: range(1, 11),
  naming: range(1, 18),
};

/** The points that no transcript of a server's stream can show, and why. */
const elsewhere: { readonly [L in List]: { readonly [number: number]: string } } = {
  rule: {
    14: "the end of a stream is the transport's: tested with the server",
    15: "the end of a server is the transport's too",
    25: "what a client does",
    26: "what a client does",
    37: "what a client does",
    112: "what a client does",
    116: "what a client does",
    126: "what a client does",
    139: "names are the resources' own, and nothing in the machine splits them",
  },
  choice: {
    11: "polls have no stream: server/src/transports/rest/rest.test.ts",
  },
  interop: {},
  envoy: {},
  grpc: {
    9: "regular expressions are checked when resources are read",
    10: "nested messages of v2 are written by the api package and tested there",
    11: "faults of clients that a server does not work around",
  },
  naming: {},
};

/** The rules that transcripts of a client's end must show. */
const clientRules = [25, 26, 37, 112, 116, 134, 163, 164, 165, 166, 167];

/** The rules of a client's end that no transcript shows. */
export function missingClientRules(seen: readonly Tag[]): readonly string[] {
  const covered = new Set(seen.filter(({ list }) => list === "rule").map(({ number }) => number));
  return clientRules.filter((number) => !covered.has(number)).map((number) => `rule ${number} has no transcript`);
}

/** The number of points in each list of the rule book, with or without a transcript. */
export const listSizes: { readonly [L in List]: number } = {
  rule: 167,
  choice: 12,
  interop: 13,
  envoy: 14,
  grpc: 11,
  naming: 18,
};

/** Why a point has no transcript; undefined if it must have one, or needs none. */
export function reasonElsewhere({ list, number }: Tag): string | undefined {
  return elsewhere[list][number];
}

/** The points that neither a transcript nor the list above covers, and those that both cover. */
export function missingTags(seen: readonly Tag[]): readonly string[] {
  const covered = new Set(seen.map(({ list, number }) => `${list} ${number}`));
  return (Object.keys(lists) as List[]).flatMap((list) =>
    lists[list].flatMap((number) => {
      const point = `${list} ${number}`;
      const reason = elsewhere[list][number];
      if (reason === undefined) return covered.has(point) ? [] : [`${point} has no transcript`];
      return covered.has(point) ? [`${point} has a transcript but is excused: ${reason}`] : [];
    }),
  );
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

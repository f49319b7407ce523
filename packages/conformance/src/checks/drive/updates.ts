import { baseWorld, type World } from "../../driver/driven-content.js";
import { hold } from "../../verdicts/verdicts.js";
import type { ProtocolVariant } from "../../wire/messages.js";
import { typeNamed, typeUrlOf } from "../../wire/type-words.js";
import type { XdsStream } from "../../wire/xds-stream.js";
import type { CheckBody } from "../contract/check.js";
import { documents } from "../contract/documents.js";
import { allThere, namesIn } from "../observe/differences.js";
import { begin, clustersInSync, comesChanged, comesWith, lastOf, resourceIn, streamInSync } from "./driving.js";

const cluster = typeUrlOf("cluster");

/** A change of one resource of each type: the type, its names, the one that changes, and the change. */
const changes: readonly (readonly [word: string, names: readonly string[], name: string, changed: Partial<World>])[] = [
  ["cluster", ["a", "b", "c"], "a", { clusters: { ...baseWorld.clusters, a: 2 } }],
  ["endpoint", ["a", "b"], "a", { endpoints: { a: 2 } }],
  ["listener", ["l", "m"], "l", { listenerContents: { l: 2 } }],
  ["route", ["r", "s"], "r", { routes: { ...baseWorld.routes, r: "c" } }],
];

/** A resource that changes is sent, in a new version. */
export function updateChecks(variant: ProtocolVariant): readonly CheckBody[] {
  return changes.map(([word, names, name, changed]) => {
    const { typeUrl: type, fullState } = typeNamed(word);
    return {
      id: `${variant}-updated-${word}`,
      says: `A ${word} that changes is sent to those who asked for it, with another version.`,
      because: "The server may send responses when the subscribed resources change. Then the version is changed.",
      link: documents.versions,
      async run(peer) {
        await begin(peer);
        const stream = await streamInSync(peer, variant, word, names, fullState ? "wildcard" : "by name");
        const before = lastOf(stream, type, name)!;
        const versionBefore = stream.received(type).at(-1)?.version;
        await peer.set({ ...baseWorld, ...changed });
        const response = await comesChanged(stream, type, name, before.body);
        if (variant === "delta")
          hold(resourceIn(response, name)?.version !== before.version, "its version is as before");
        else hold(response.version !== versionBefore, "the version_info is as before");
        if (variant === "sotw" && fullState) allThere("the response", namesIn([response]), names);
      },
    };
  });
}

/** Resources that go, and come. */
export function removalChecks(variant: ProtocolVariant): readonly CheckBody[] {
  const isSotw = variant === "sotw";
  const { c: _, ...rest } = baseWorld.clusters;
  const without = { ...baseWorld, clusters: rest };
  const cGoes = (stream: XdsStream) =>
    comesWith(stream, cluster, (one) => (isSotw ? resourceIn(one, "c") === undefined : one.removed.includes("c")));
  return [
    {
      id: `${variant}-removed`,
      says: isSotw
        ? "A response of the clusters that are left tells that one is removed."
        : "A cluster that is removed is told in removed_resources.",
      because: "A previously seen resource that is not present has been removed; in delta, removed_resources says so.",
      link: documents.deleting,
      async run(peer) {
        const stream = await clustersInSync(peer, variant);
        await peer.set(without);
        const response = await cGoes(stream);
        if (isSotw) allThere("the response", namesIn([response]), ["a", "b"]);
      },
    },
    {
      id: `${variant}-all-removed`,
      says: isSotw
        ? "When the last cluster is removed, a response without resources tells it."
        : "When all clusters are removed, each is told in removed_resources.",
      because: "A response containing no resources means to delete all resources of that type.",
      link: documents.deleting,
      async run(peer) {
        const stream = await clustersInSync(peer, variant);
        await peer.set({ clusters: {}, listeners: {}, routes: {} });
        const gone = new Set<string>();
        await comesWith(stream, cluster, (one) => {
          for (const name of one.removed) gone.add(name);
          return ["a", "b", "c"].every((name) => (isSotw ? resourceIn(one, name) === undefined : gone.has(name)));
        });
      },
    },
    {
      id: `${variant}-created-later`,
      says: "A name that did not exist when it was asked for is sent once it does.",
      because: "If one of those resources springs into existence later, the server must send an update.",
      link: documents.absence,
      async run(peer) {
        await begin(peer);
        const stream = peer.asking(variant, cluster, ["a", "d"]);
        await stream.gather(cluster, ["a"]);
        await stream.acceptRest();
        await peer.set({ ...baseWorld, clusters: { ...baseWorld.clusters, d: 1 } });
        await comesWith(stream, cluster, (one) => resourceIn(one, "d") !== undefined);
      },
    },
    {
      id: `${variant}-created-again`,
      says: "A resource that was removed and comes back as it was is sent again.",
      because: "The client deleted it when it was removed.",
      link: documents.deleting,
      async run(peer) {
        const stream = await clustersInSync(peer, variant);
        await peer.set(without);
        await cGoes(stream);
        await begin(peer);
        await comesWith(stream, cluster, (one) => resourceIn(one, "c") !== undefined);
      },
    },
  ];
}

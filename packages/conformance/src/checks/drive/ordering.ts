import { baseWorld } from "../../driver/driven-content.js";
import { referencesOf } from "../../peer/found-names.js";
import { hold } from "../../verdicts/verdicts.js";
import type { ProtocolVariant } from "../../wire/messages.js";
import { typeUrlOf } from "../../wire/type-words.js";
import type { CheckBody } from "../contract/check.js";
import { documents } from "../contract/documents.js";
import { begin, lastOf, resourceIn, withClusters } from "./driving.js";
import { SimulatedEnvoy } from "./simulated-envoy.js";

const [cluster, route] = [typeUrlOf("cluster"), typeUrlOf("route")];

/** Changes that concern several types. */
export function orderingChecks(variant: ProtocolVariant): readonly CheckBody[] {
  return [
    {
      id: `${variant}-update-order`,
      says: "A change of all types arrives in the order clusters, endpoints, listeners, routes.",
      because: "CDS updates must always be pushed first; EDS after CDS; LDS after these; RDS after LDS.",
      link: documents.ordering,
      level: "SHOULD",
      async run(peer) {
        await begin(peer);
        const stream = peer.open(variant);
        const watched = [
          ["cluster", "a", []],
          ["endpoint", "a", ["a", "b", "c"]],
          ["listener", "l", []],
          ["route", "r", ["r", "s"]],
        ] as const;
        for (const [word, name, names] of watched) {
          const type = typeUrlOf(word);
          stream.ask(type, names);
          await stream.gather(type, [name]);
        }
        await stream.acceptRest();
        const before = new Map(watched.map(([word, name]) => [word, lastOf(stream, typeUrlOf(word), name)!.body]));
        const routes = { ...baseWorld.routes, r: "c" };
        await peer.set({ ...withClusters({ a: 2 }), endpoints: { a: 2 }, listenerContents: { l: 2 }, routes });
        const order: string[] = [];
        while (order.length < watched.length) {
          const response = await stream.next();
          stream.ack(response);
          const [word, name] = watched.find(([one]) => typeUrlOf(one) === response.type) ?? [];
          if (word === undefined || order.includes(word)) continue;
          const body = resourceIn(response, name)?.body;
          if (body !== undefined && Buffer.compare(body, before.get(word)!) !== 0) order.push(word);
        }
        const due = watched.map(([word]) => word);
        hold(order.join() === due.join(), `the order was ${order.join(", ")}`);
      },
    },
    {
      id: `${variant}-make-before-break`,
      says: "While a route moves to a new cluster and the old one goes, no request fails.",
      because: "Sequencing of updates should follow a make before break model.",
      link: documents.ordering,
      level: "SHOULD",
      async run(peer) {
        await begin(peer);
        const envoy = new SimulatedEnvoy(peer.open(variant));
        const leads = (name: string, to: string) => {
          const resource = envoy.current(route).get(name);
          return (
            resource !== undefined && referencesOf(resource).some((one) => one.type === cluster && one.name === to)
          );
        };
        await envoy.follow(() => envoy.current(typeUrlOf("endpoint")).size === 3 && leads("r", "a") && leads("s", "b"));
        // What was broken while it started is no request that failed.
        envoy.broken.length = 0;
        await peer.quiet();
        const { a: _, ...others } = baseWorld.clusters;
        await peer.set({ ...baseWorld, clusters: { ...others, d: 1 }, routes: { ...baseWorld.routes, r: "d" } });
        await envoy.follow(
          () => leads("r", "d") && envoy.current(cluster).has("d") && !envoy.current(cluster).has("a"),
        );
        hold(envoy.broken.length === 0, `${envoy.broken.length} times a request failed: ${envoy.broken.join("; ")}`);
      },
    },
  ];
}

import type { World } from "../../driver/driven-content.js";
import { Failed } from "../../verdicts/verdicts.js";
import type { ProtocolVariant } from "../../wire/messages.js";
import { typeUrlOf } from "../../wire/type-words.js";
import type { CheckBody } from "../contract/check.js";
import { documents } from "../contract/documents.js";
import { eachService, ofService } from "../observe/services.js";
import { begin, comesChanged, lastOf, withClusters } from "./driving.js";

const cluster = typeUrlOf("cluster");
const router = "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router";

/** A resource of each type that is not in the base world, and has a service. */
const others: NonNullable<World["more"]> = {
  [typeUrlOf("secret")]: { one: { name: "one", genericSecret: { secret: { inlineString: "a test" } } } },
  [typeUrlOf("runtime")]: { one: { name: "one", layer: { "conformance.test": 1 } } },
  [typeUrlOf("scoped-route")]: {
    one: { name: "one", routeConfigurationName: "r", key: { fragments: [{ stringKey: "one" }] } },
  },
  [typeUrlOf("extension-config")]: { one: { name: "one", typedConfig: { "@type": router } } },
};

/** What services of single types send when something changes, and of the rarer types. */
export function drivenServiceChecks(variant: ProtocolVariant): readonly CheckBody[] {
  return [
    {
      id: `${variant}-service-updated`,
      says: "A change is sent on a type's own service, too.",
      because: "There is a separate RPC service for each resource type, with the same sequencing of messages.",
      link: documents.services,
      async run(peer) {
        await begin(peer);
        const stream = peer.openService(variant, cluster);
        stream.ask(cluster);
        await ofService(stream, cluster, () => stream.gather(cluster, ["a", "b", "c"]));
        await stream.acceptRest();
        const before = lastOf(stream, cluster, "a")!.body;
        await peer.set(withClusters({ a: 2 }));
        await comesChanged(stream, cluster, "a", before);
      },
    },
    {
      id: `${variant}-other-types`,
      says: "Secrets, runtime layers, scoped routes and extensions are sent on the aggregated stream.",
      because: "In the aggregated variants all resource types are multiplexed on a single stream.",
      link: documents.services,
      async run(peer) {
        peer.needs("types");
        await begin(peer, { more: others });
        const stream = peer.open(variant);
        for (const type of Object.keys(others)) stream.ask(type, ["one"]);
        for (const type of Object.keys(others)) await stream.gather(type, ["one"]);
      },
    },
    {
      id: `${variant}-other-services`,
      says: "Secrets, runtime layers, scoped routes and extensions are sent by their own services.",
      because: "There is a separate RPC service for each resource type.",
      link: documents.services,
      async run(peer) {
        peer.needs("types");
        await begin(peer, { more: others });
        return await eachService(peer, variant, Object.keys(others), async (type, stream) => {
          stream.ask(type, ["one"]);
          await stream.gather(type, ["one"]);
        });
      },
    },
  ];
}

/** A parked poll ends with a change. */
export const drivenPollChecks: readonly CheckBody[] = [
  {
    id: "rest-updated",
    says: "A poll with the version that was served is answered with a change that comes.",
    because: "The server answers once a change to the underlying resources has occurred via a resource update.",
    link: documents.rest,
    async run(peer) {
      await begin(peer);
      const first = await peer.poll(cluster).response();
      let poll = peer.poll(cluster, { version: first.version });
      await peer.set(withClusters({ a: 2 }));
      const end = Date.now() + peer.bounds.answerMs;
      for (;;) {
        const { status, response } = await poll.answer();
        if (response !== undefined && response.version !== first.version) return;
        if (Date.now() > end)
          throw new Failed(`the polls are answered with status ${status}, as if nothing had changed`);
        poll = peer.poll(cluster, { version: first.version });
      }
    },
  },
];

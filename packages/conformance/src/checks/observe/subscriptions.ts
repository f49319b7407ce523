import { hold } from "../../verdicts/verdicts.js";
import type { CheckBody } from "../contract/check.js";
import { documents } from "../contract/documents.js";
import { namesIn, sameNames } from "./differences.js";
import { missingName } from "./names.js";
import { oneAsked } from "./openings.js";

/** So much, in so many requests, that the answers are more than is kept on the way to a client that does not read. */
const [manyNames, manyTimes] = [1_000, 3];

/** Subscriptions of the incremental variant. */
export const deltaSubscriptionChecks: readonly CheckBody[] = [
  {
    id: "delta-missing-removed",
    says: "A name that does not exist is told in removed_resources.",
    because: "The server will send a response that contains that resource's name in removed_resources.",
    link: documents.delta,
    async run(peer) {
      const { type } = peer.content.any(1);
      const stream = peer.asking("delta", type, [missingName]);
      const { removed } = await stream.gather(type, [missingName]);
      hold(removed.has(missingName), `a resource ${missingName} came`);
    },
  },
  {
    id: "delta-subscribed-again",
    says: "A name that the client has already, and subscribes to again, is sent again.",
    because: "The server must still provide those resources in the response.",
    link: documents.deltaSubscribing,
    async run(peer) {
      const { type, first, stream } = oneAsked(peer, "delta", peer.content.any(1));
      await stream.gather(type, [first]);
      await stream.comes();
      stream.ask(type, [first]);
      hold((await stream.gather(type, [first])).resources.has(first), `${first} was told as removed`);
    },
  },
  {
    id: "delta-others-not-resent",
    says: "An added name does not bring again what the client has.",
    because: "The server does not need to resend the resources that have not changed.",
    link: documents.grouping,
    level: "SHOULD",
    async run(peer) {
      const { type, first, second, stream } = oneAsked(peer, "delta");
      await stream.gather(type, [first]);
      stream.ask(type, [second]);
      sameNames("the answer", namesIn(await stream.answer(type)), [second]);
    },
  },
  {
    id: "delta-stalled-others",
    says: "A client that asks for much, and does not read the answers, does not keep others from being answered.",
    because: "The management server must supply the requested resources if they exist, whatever others do.",
    link: documents.names,
    level: "SHOULD",
    async run(peer) {
      const { type, names } = peer.content.any(1);
      const { stream: stalled } = peer.stalled("delta");
      for (let time = 0; time < manyTimes; time++) {
        const others = Array.from({ length: manyNames }, (_, index) => `${missingName}-${time}-${index}`);
        stalled.ask(type, [...names, ...others]);
      }
      // The server has read it.
      await stalled.comes();
      await peer.asking("delta", type, names).gather(type, names);
    },
  },
  {
    id: "delta-unsubscribe-unknown",
    says: "Unsubscribing from a name that was not subscribed to does no harm.",
    because: "The server must cleanly process such a request; it can simply ignore these phantom unsubscriptions.",
    link: documents.delta,
    async run(peer) {
      const { type, first, second, stream } = oneAsked(peer, "delta");
      await stream.gather(type, [first]);
      stream.send({ type, unsubscribe: [missingName] });
      await stream.comes();
      stream.ask(type, [second]);
      await stream.gather(type, [second]);
    },
  },
  {
    id: "delta-unsubscribe-below-wildcard",
    says: "A client that unsubscribes from a name, and has a wildcard with it, is sent the resource.",
    because: "The server must send a response that includes the specific resource in removed_resources or resources.",
    link: documents.delta,
    async run(peer) {
      const { type, names } = peer.content.wildcard(1);
      const [name = ""] = names;
      const stream = peer.asking("delta", type, ["*", name]);
      await stream.gather(type);
      stream.send({ type, unsubscribe: [name] });
      hold((await stream.gather(type, [name])).resources.has(name), `${name} was told as removed`);
    },
  },
  {
    id: "delta-unsubscribe-beside-wildcard",
    says: "A client that unsubscribes from a name, and has a wildcard without it, is told that it is removed.",
    because: "The server must send a response that includes the specific resource in removed_resources or resources.",
    link: documents.delta,
    async run(peer) {
      const { type } = peer.content.wildcard(1);
      const stream = peer.asking("delta", type, ["*", missingName]);
      await stream.gather(type);
      stream.send({ type, unsubscribe: [missingName] });
      hold((await stream.gather(type, [missingName])).removed.has(missingName), `a resource ${missingName} came`);
    },
  },
  {
    id: "delta-first-only-unsubscribes",
    says: "A first request that only unsubscribes has no wildcard.",
    because:
      "One passage says that a client which never subscribed to a name has the wildcard. Another one says that such a " +
      "request must have no names to unsubscribe from either.",
    link: documents.names,
    level: "either",
    async run(peer) {
      const { type } = peer.content.wildcard(1);
      const stream = peer.open("delta");
      stream.send({ type, unsubscribe: [missingName] });
      sameNames("the answer", namesIn(await stream.comes()), []);
    },
  },
  {
    id: "delta-ack-with-names",
    says: "An ACK that also subscribes to a name is answered with that resource.",
    because: "The server must honor changes to the subscription state.",
    link: documents.delta,
    async run(peer) {
      const { type, second, stream } = oneAsked(peer, "delta");
      stream.ack(await stream.next(type), { subscribe: [second] });
      await stream.gather(type, [second]);
    },
  },
  {
    id: "delta-stale-nonce-with-names",
    says: "A subscription that comes with a stale nonce is answered.",
    because: "The server must honor changes to the subscription state even if the nonce is stale.",
    link: documents.delta,
    async run(peer) {
      const { type, first, second, stream } = oneAsked(peer, "delta");
      const stale = await stream.next(type);
      stream.ack(stale);
      stream.ask(type, [second]);
      await stream.gather(type, [second]);
      stream.send({ type, unsubscribe: [first] });
      await stream.acceptRest();
      stream.send({ type, nonce: stale.nonce, subscribe: [first] });
      await stream.gather(type, [first]);
    },
  },
  {
    id: "delta-later-initial-ignored",
    says: "Versions that a client says it has in a later request change nothing.",
    because: "initial_resource_versions is for the first message of a stream.",
    link: documents.request,
    level: "SHOULD",
    async run(peer) {
      const { type, first, second, stream } = oneAsked(peer, "delta");
      await stream.gather(type, [first]);
      await stream.comes();
      stream.send({ type, initial: { [first]: "xds-conformance-unknown", [second]: "xds-conformance-unknown" } });
      await stream.silent();
    },
  },
];

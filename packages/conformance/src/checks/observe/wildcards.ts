import { hold } from "../../verdicts/verdicts.js";
import type { ProtocolVariant } from "../../wire/messages.js";
import type { CheckBody } from "../contract/check.js";
import { documents } from "../contract/documents.js";
import { allThere, namesIn, sameNames } from "./differences.js";
import { allAsked, oneAsked } from "./openings.js";

/** How a wildcard begins, and ends. */
export function wildcardChecks(variant: ProtocolVariant): readonly CheckBody[] {
  const isSotw = variant === "sotw";
  return [
    {
      id: `${variant}-wildcard-star`,
      says: "The name * asks for the same resources as a first request without names.",
      because: "The server should treat that identically to how it would treat a subscription to *.",
      link: documents.names,
      async run(peer) {
        const { type, names } = peer.content.wildcard(1);
        const stream = peer.asking(variant, type, ["*"]);
        sameNames("the answer to *", (await stream.gather(type)).resources.keys(), names);
      },
    },
    {
      id: `${variant}-wildcard-without-names`,
      says: "A first request without names asks for all clusters, or listeners.",
      because: "A client that never named anything should be treated as if it had named *. Envoy asks in no other way.",
      link: documents.names,
      async run(peer) {
        const { type, names, stream } = allAsked(peer, variant);
        sameNames("the answer to no names", (await stream.gather(type)).resources.keys(), names);
      },
    },
    {
      id: `${variant}-name-then-star`,
      says: "A client that asked for one name and then for * gets everything.",
      because: "The wildcard subscription is triggered when subscribing to the special name *.",
      link: documents.names,
      async run(peer) {
        const { type, names } = peer.content.wildcard(2);
        const [name = ""] = names;
        const stream = peer.asking(variant, type, [name]);
        const { last } = await stream.gather(type, [name]);
        stream.add(last, [], ["*"]);
        const { resources } = await stream.gather(type);
        // In delta it has the first one already.
        allThere("the answer to *", isSotw ? resources.keys() : [name, ...resources.keys()], names);
      },
    },
    {
      id: `${variant}-wildcard-and-name`,
      says: isSotw
        ? "A client that asked for everything, and then for * and a name, still has everything."
        : "A client that asked for everything, and then for a name that it has, gets that resource again.",
      because: isSotw
        ? "Server interprets this as continuing the existing subscription to * and adding a new one to A."
        : "The server must still provide those resources in the response.",
      link: isSotw ? documents.names : documents.deltaSubscribing,
      async run(peer) {
        const { type, names } = peer.content.wildcard(2);
        const [name = ""] = names;
        const stream = peer.asking(variant, type);
        const { last } = await stream.gather(type);
        if (!isSotw) {
          stream.ask(type, [name]);
          const { resources } = await stream.gather(type, [name]);
          hold(resources.has(name), `${name} was told as removed`);
          return;
        }
        stream.ack(last, { names: ["*", name] });
        const responses = (await stream.comes()).filter((response) => response.type === type);
        // In SotW what is missing in a response is deleted.
        for (const response of responses) sameNames("the answer to * and a name", namesIn([response]), names);
        return responses.length === 0 ? "the server sends nothing" : "the server sends everything again";
      },
    },
    {
      id: `${variant}-nothing-after-name`,
      says: "A client that named something, and then nothing any more, has no wildcard.",
      because:
        "Clearing the list is then an unsubscription rather than a subscription to *. But the server can also send " +
        "updates for resources that the client has not subscribed to.",
      link: documents.names,
      level: "SHOULD",
      async run(peer) {
        const { type, first, stream } = oneAsked(peer, variant, peer.content.wildcard(2));
        const { last } = await stream.gather(type, [first]);
        stream.drop(last, [], [first]);
        const others = namesIn(await stream.comes()).filter((one) => one !== first);
        sameNames("the answer to no names", others, []);
      },
    },
  ];
}

import { hold } from "../../verdicts/verdicts.js";
import type { ProtocolVariant } from "../../wire/messages.js";
import type { CheckBody } from "../contract/check.js";
import { documents } from "../contract/documents.js";
import { allThere, namesIn, sameNames } from "./differences.js";
import { oneAsked } from "./openings.js";

/** A name that no server has. */
export const missingName = "xds-conformance-no-such-resource";
const manyNames = 1_000;

/** What a server does with names. */
export function nameChecks(variant: ProtocolVariant): readonly CheckBody[] {
  return [
    {
      id: `${variant}-named`,
      says: "The server sends each resource that a request names.",
      because: "The management server must supply the requested resources if they exist.",
      link: documents.names,
      async run(peer) {
        const { type, names } = peer.content.any(1);
        const stream = peer.asking(variant, type, names);
        await stream.gather(type, names);
      },
    },
    {
      id: `${variant}-only-named`,
      says: "The server sends no resource that the request does not name.",
      because: "The client will silently ignore any supplied resources that were not explicitly requested.",
      link: documents.names,
      level: "SHOULD",
      async run(peer) {
        const { type, first, stream } = oneAsked(peer, variant);
        sameNames("the answer", namesIn(await stream.answer(type)), [first]);
      },
    },
    {
      id: `${variant}-wildcard-type-named`,
      says: "A request for a cluster or listener by its name is answered with that one alone.",
      because: "Clients may name clusters and listeners. The client will ignore what was not explicitly requested.",
      link: documents.names,
      level: "SHOULD",
      async run(peer) {
        const { type, first, stream } = oneAsked(peer, variant, peer.content.wildcard(2));
        sameNames("the answer", namesIn(await stream.answer(type)), [first]);
      },
    },
    {
      id: `${variant}-name-added`,
      says: "A name that is added is answered, although nothing changed.",
      because: "When the set of requested resources changes, the server must resend any newly requested resources.",
      link: documents.names,
      async run(peer) {
        const { type, first, second, stream } = oneAsked(peer, variant);
        const { last } = await stream.gather(type, [first]);
        stream.add(last, [first], [second]);
        await stream.gather(type, [second]);
      },
    },
    {
      id: `${variant}-name-dropped-and-added`,
      says: "A name that was dropped and is asked for again is answered again.",
      because: "The server must resend newly requested resources, even if they have not changed since that time.",
      link: documents.names,
      async run(peer) {
        const { type, names } = peer.content.any(2);
        const [first = "", second = ""] = names;
        const stream = peer.asking(variant, type, [first, second]);
        let { last } = await stream.gather(type, [first, second]);
        stream.drop(last, [first], [second]);
        // A response to that is allowed.
        for (const response of await stream.comes()) {
          stream.ack(response);
          last = response;
        }
        stream.add(last, [first], [second]);
        const again = await stream.gather(type, [second]);
        hold(again.resources.has(second), `${second} was told as removed`);
      },
    },
  ];
}

/** What a server does with names that do not exist, and with many. */
export function missingNameChecks(variant: ProtocolVariant): readonly CheckBody[] {
  return [
    {
      id: `${variant}-missing-among-named`,
      says: "A name that does not exist does not keep the others of the request from coming.",
      because: "The management server must supply the requested resources if they exist.",
      link: documents.names,
      async run(peer) {
        const { type, names } = peer.content.any(1);
        const [name = ""] = names;
        const stream = peer.asking(variant, type, [missingName, name]);
        await stream.gather(type, [name]);
      },
    },
    {
      id: `${variant}-missing-alone`,
      says: "A request for a name that does not exist does not end the stream, and later names are answered.",
      because: "Even if a requested resource does not exist at the moment, it could be created at any time.",
      link: documents.absence,
      async run(peer) {
        const { type, names } = peer.content.any(1);
        const [name = ""] = names;
        const stream = peer.asking(variant, type, [missingName]);
        const responses = await stream.comes();
        for (const response of responses) stream.ack(response);
        if (variant === "delta") stream.ask(type, [name]);
        else if (responses.length === 0) stream.ask(type, [missingName, name]);
        else stream.ack(responses.at(-1)!, { names: [missingName, name] });
        await stream.gather(type, [name]);
      },
    },
    {
      id: `${variant}-many-names`,
      says: `A request with ${manyNames} names is answered like any other.`,
      because:
        "Management servers should be capable of handling one or more resource_names. No sentence says how many.",
      link: documents.many,
      level: "SHOULD",
      async run(peer) {
        const { type, names } = peer.content.any(1);
        const [name = ""] = names;
        const others = Array.from({ length: manyNames - 1 }, (_, index) => `${missingName}-${index}`);
        const stream = peer.asking(variant, type, [...others, name]);
        const { resources } = await stream.gather(type, [name]);
        allThere("the answer", resources.keys(), [name]);
      },
    },
  ];
}

import { nameList } from "../../verdicts/names.js";
import { Failed, hold } from "../../verdicts/verdicts.js";
import type { ProtocolVariant } from "../../wire/messages.js";
import type { CheckBody } from "../contract/check.js";
import { documents } from "../contract/documents.js";
import { allAsked, oneAsked } from "./openings.js";

/** What each response has. */
export function responseChecks(variant: ProtocolVariant): readonly CheckBody[] {
  return [
    {
      id: `${variant}-response-fields`,
      says:
        variant === "sotw"
          ? "A response says its type URL, and has a version and a nonce."
          : "A response says its type URL and has a nonce; each of its resources has a name and a version.",
      because: "All server responses will contain a nonce. Every xDS resource type has a version string.",
      link: documents.overview,
      async run(peer) {
        const { type, stream } = allAsked(peer, variant);
        const response = await stream.next();
        hold(response.type === type, `the response's type_url is ${JSON.stringify(response.type)}`);
        hold(response.nonce !== "", "the response has no nonce");
        if (variant === "sotw") hold(response.version !== "", "the response has no version_info");
        for (const { name, version } of variant === "delta" ? response.resources : []) {
          hold(name !== "", "a resource has no name");
          hold(version !== "", `the resource ${name} has no version`);
        }
      },
    },
    {
      id: `${variant}-body-types`,
      says: "Each resource of a response is a message of the response's type.",
      because: "The type_url of resources must be consistent with the type_url in the response.",
      link: documents.request,
      async run(peer) {
        const { type, stream } = allAsked(peer, variant);
        const { resources } = await stream.gather(type);
        const other = [...resources.values()].find(({ bodyType }) => bodyType !== type);
        if (other !== undefined) throw new Failed(`the resource ${other.name} is a ${other.bodyType || "heartbeat"}`);
      },
    },
    {
      id: `${variant}-unique-nonces`,
      says: "Two responses of a stream have different nonces.",
      because: "The nonce allows servers to determine which response a given request is associated with.",
      link: documents.overview,
      async run(peer) {
        const { type, first, second, stream } = oneAsked(peer, variant);
        const before = await stream.next(type);
        stream.ack(before, stream.adding([first], [second]));
        const after = await stream.next(type);
        hold(before.nonce !== after.nonce, `two responses have the nonce ${JSON.stringify(after.nonce)}`);
      },
    },
    {
      id: `${variant}-unique-names`,
      says: "No response has a name twice, also if the request named it twice.",
      because: "It is an error for a server to send a single response that contains the same resource name twice.",
      link: documents.duplicates,
      async run(peer) {
        const { type, names } = peer.content.any(1);
        const [name = ""] = names;
        const stream = peer.asking(variant, type, [name, name]);
        const { resources, removed } = await stream.next(type);
        const all = [...resources.map((resource) => resource.name), ...removed];
        const twice = all.filter((one, index) => all.indexOf(one) !== index);
        hold(twice.length === 0, `the response has these twice: ${nameList(twice)}`);
      },
    },
  ];
}

/** What only holds where both variants are offered. */
export const agreementChecks: readonly CheckBody[] = [
  {
    id: "variants-agree",
    says: "SotW and delta show the same resources, with the same contents.",
    because: "The variants are two ways to ask for the same configuration.",
    link: documents.services,
    async run(peer) {
      const [sotw, delta] = [peer.open("sotw"), peer.open("delta")];
      for (const type of peer.content.wildcards()) {
        sotw.ask(type);
        delta.ask(type);
        const [one, other] = await Promise.all([sotw.gather(type), delta.gather(type)]);
        const all = new Set([...one.resources.keys(), ...other.resources.keys()]);
        const differing = [...all].filter((name) => {
          const [here, there] = [one.resources.get(name)?.body, other.resources.get(name)?.body];
          return here === undefined || there === undefined || Buffer.compare(here, there) !== 0;
        });
        hold(differing.length === 0, `these differ between SotW and delta: ${nameList(differing)}`);
      }
    },
  },
];

import { hold } from "../../verdicts/verdicts.js";
import type { CheckBody } from "../contract/check.js";
import { documents } from "../contract/documents.js";
import { namesIn, sameNames } from "./differences.js";

const [badRequest, serverError] = [400, 500];

/** Polls over REST. */
export const pollChecks: readonly CheckBody[] = [
  {
    id: "rest-same",
    says: "A poll is answered with the same resources as a stream.",
    because: "Long polling via REST endpoints is also available. The sequencing of messages is similar.",
    link: documents.rest,
    async run(peer) {
      for (const type of peer.content.wildcards()) {
        const { resources } = await peer.poll(type).response();
        const names = resources.map(({ name }) => name);
        sameNames("the answer", names, peer.content.names(type));
      }
    },
  },
  {
    id: "rest-canonical",
    says: "The answer is JSON whose fields have the names of proto3's canonical JSON.",
    because:
      "The JSON canonical transform of proto3 is used to encode DiscoveryRequest and DiscoveryResponse messages.",
    link: documents.rest,
    level: "SHOULD",
    async run(peer) {
      const { type } = peer.content.wildcard(1);
      const poll = peer.poll(type);
      const { version } = await poll.response();
      const { body } = await poll.answer();
      const { versionInfo } = JSON.parse(body) as { readonly versionInfo?: unknown };
      hold(version !== "", "the answer has no version");
      hold(versionInfo === version, "the version is not in the field versionInfo");
    },
  },
  {
    id: "rest-spellings",
    says: "A poll may spell its fields as JSON does, or as the proto does.",
    because: "Parsers accept both the lowerCamelCase name and the original proto field name.",
    link: documents.json,
    async run(peer) {
      const { type, names } = peer.content.any(1);
      for (const spelling of ["json", "proto"] as const) {
        const response = await peer.poll(type, { names: names.slice(0, 1), spelling }).response();
        sameNames(`the answer to the spelling of ${spelling}`, namesIn([response]), names.slice(0, 1));
      }
    },
  },
  {
    id: "rest-named",
    says: "A poll with names is answered with these alone.",
    because: "The server sends the resources that are asked for by resource_names. The client ignores others.",
    link: documents.request,
    level: "SHOULD",
    async run(peer) {
      const { type, names } = peer.content.any(2);
      const response = await peer.poll(type, { names: names.slice(0, 1) }).response();
      sameNames("the answer", namesIn([response]), names.slice(0, 1));
    },
  },
  {
    id: "rest-current",
    says: "A poll with the version that is served is parked, or told that nothing is new: it gets no resources.",
    because: "There is a requirement to avoid sending a DiscoveryResponse unless a change has occurred.",
    link: documents.rest,
    async run(peer) {
      const { type } = peer.content.wildcard(1);
      const { version } = await peer.poll(type).response();
      const poll = peer.poll(type, { version });
      await peer.quiet();
      const { answered } = poll;
      hold(answered?.response === undefined, "the poll was answered with resources");
      hold((answered?.status ?? 0) < badRequest, `the poll was answered with status ${answered?.status}`);
      return answered === undefined ? "the poll is parked" : `the poll is answered with status ${answered.status}`;
    },
  },
  {
    id: "rest-no-json",
    says: "A poll that is no JSON is the client's error, and the server goes on.",
    because: "One client must not be able to disturb others. A status from 400 to 499 says that the request is wrong.",
    link: documents.rest,
    level: "SHOULD",
    async run(peer) {
      const { type } = peer.content.wildcard(1);
      const { status } = await peer.poll(type, { body: "{" }).answer();
      hold(status >= badRequest && status < serverError, `the status is ${status}`);
      await peer.poll(type).response();
    },
  },
];

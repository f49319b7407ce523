import type { ServerPeer } from "../../peer/peer.js";
import { hold, Skipped } from "../../verdicts/verdicts.js";
import type { ProtocolVariant, ReceivedResponse } from "../../wire/messages.js";
import type { XdsStream } from "../../wire/xds-stream.js";
import type { CheckBody } from "../contract/check.js";
import { documents } from "../contract/documents.js";
import { allThere, namesIn } from "./differences.js";

const missing = "xds-conformance-no-such-name";
const another = "xds-conformance-no-such-name-either";
/** No document names a feature for it; there are servers that want one. */
const feature = "xds.config.supports-resource-errors";

/** A stream that asked for a wildcard type's resources by name, and one that does not exist; and what came. */
async function asked(
  peer: ServerPeer,
  variant: ProtocolVariant,
): Promise<{ stream: XdsStream; came: readonly ReceivedResponse[] }> {
  const { type, names } = peer.content.wildcard(1);
  const stream = peer.open(variant, peer.nodeWith(feature));
  stream.ask(type, [...names, missing]);
  return { stream, came: await stream.answer(type) };
}

/** The same, and some error came. Throws Skipped if none did. */
async function withErrors(peer: ServerPeer, variant: ProtocolVariant) {
  const { stream, came } = await asked(peer, variant);
  const errors = errorsIn(came);
  if (errors.length === 0) throw new Skipped("the server says no errors");
  return { stream, came, errors };
}

const errorsIn = (responses: readonly ReceivedResponse[]) => responses.flatMap(({ errors }) => errors);

/** What is said of resources that cannot be sent. */
export function errorChecks(variant: ProtocolVariant): readonly CheckBody[] {
  return [
    {
      id: `${variant}-error-told`,
      says: "A name that does not exist is told in resource_errors.",
      because: "An optional list of error details, by which the server can tell why it does not send a resource.",
      link: documents.errors,
      level: "either",
      async run(peer) {
        const { came } = await asked(peer, variant);
        hold(
          errorsIn(came).some(({ name }) => name === missing),
          "there is no error",
        );
      },
    },
    {
      id: `${variant}-error-fields`,
      says: "An error names what was asked for, and has a status that is not OK.",
      because: "A ResourceError has the resource's name and the error's detail.",
      link: documents.errors,
      async run(peer) {
        const { errors } = await withErrors(peer, variant);
        const other = errors.find(({ name }) => name !== missing);
        hold(
          other === undefined,
          `there is an error of ${JSON.stringify(other?.name)}, which exists or was not asked for`,
        );
        hold(
          errors.every(({ code }) => code !== 0),
          "an error has the status OK",
        );
      },
    },
    {
      id: `${variant}-error-beside`,
      says: "An error of one resource takes nothing from the others.",
      because: "It must still include all of the subscribed resources that it can return in that response.",
      link: documents.errors,
      async run(peer) {
        const { names } = peer.content.wildcard(1);
        const { came } = await withErrors(peer, variant);
        const those = variant === "sotw" ? came.filter(({ errors }) => errors.length > 0) : came;
        allThere("what came", namesIn(those), names);
      },
    },
    {
      id: `${variant}-error-once`,
      says: "An error is told once.",
      because: "The server is only expected to return the error once rather than throughout for future responses.",
      link: documents.errors,
      level: "SHOULD",
      async run(peer) {
        const { stream, came, errors } = await withErrors(peer, variant);
        hold(errors.length === 1, `the error came ${errors.length} times`);
        const { names } = peer.content.wildcard(1);
        for (const response of came.slice(0, -1)) stream.ack(response);
        stream.ack(came.at(-1)!, stream.adding([...names, missing], [another]));
        const later = errorsIn(await stream.comes());
        hold(!later.some(({ name }) => name === missing), "it came again with that of another name");
      },
    },
  ];
}

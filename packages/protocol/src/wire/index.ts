// The door `@xdskit/protocol/wire`: the bytes of requests and responses, without a machine that sends them. It is for
// xdskit's own fleet of clients (`xdskit bench`), and may change with every version.
export {
  addFingerprints,
  emptyFingerprint,
  type Fingerprint,
  fingerprintOf,
  formatFingerprint,
  MemberHash,
} from "../model/names/fingerprint.js";
export { equalBytes } from "./equal-bytes.js";
export { type NameField, nameFieldOf } from "./name-field.js";
export {
  readDeltaResource,
  readDeltaResponse,
  readSotwResource,
  readSotwResponse,
  type SentResponse,
} from "./read-response.js";
export { readBody } from "./resource-body.js";
export { delimited, type Span, WireReader } from "./wire-reader.js";
export { type EncodedNames, encodeNames, nonceField, writeDeltaRequest, writeSotwRequest } from "./write-request.js";

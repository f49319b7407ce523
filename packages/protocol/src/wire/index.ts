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
export { equalBytes } from "./basics/equal-bytes.js";
export {
  type EncodedNames,
  encodeNames,
  nonceField,
  writeDeltaRequest,
  writeSotwRequest,
} from "./requests/write-request.js";
export { type NameField, nameFieldOf } from "./responses/name-field.js";
export {
  readDeltaResource,
  readDeltaResponse,
  readSotwResource,
  readSotwResponse,
  type SentResponse,
} from "./responses/read-response.js";

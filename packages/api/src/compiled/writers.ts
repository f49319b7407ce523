import type { DescMessage } from "@bufbuild/protobuf";
import type { TypeUrl } from "../names/identifiers.js";
import type { Encoding } from "./encoding.js";

/** Writes a field of a message, with its tag, from its value in JSON. */
export type WriteField = (out: Encoding, json: unknown) => void;

/** Writes a message without tag and length. Returns the value that the checks of its rules take, if it has any. */
export type WriteMessage = (out: Encoding, json: unknown) => unknown;

/** Writes the messages of one schema. The two functions are replaced when the first message comes. */
export interface MessageWriter {
  readonly schema: DescMessage;
  /** The type URL of an `Any` that holds such a message. */
  readonly typeUrl: TypeUrl;
  /** The type URL as a field, with tag and length. */
  readonly urlField: Uint8Array;
  write: WriteMessage;
  /** For an object with `"@type"`. */
  writeTyped: WriteMessage;
}

// The door `@xdskit/api/wire`: protobuf's wire format by hand, where decoding a whole message costs too much. It is for
// xdskit's own packages, and may change with every version.
export {
  embedded,
  type FieldReader,
  listField,
  type MessageReader,
  messageReader,
  readSecondsAndNanos,
  single,
  textField,
  uint32,
  uint64,
} from "./message-reader.js";
export { varintLength } from "./varint.js";
export {
  delimited,
  MalformedMessage,
  type Span,
  TooManyFields,
  varintTag,
  WireReader,
  wireType,
} from "./wire-reader.js";
export { fieldBytes, fieldLength, textBytes, utf8Length, WireWriter } from "./wire-writer.js";

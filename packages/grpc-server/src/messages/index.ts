export { framed, prefixBytes } from "./framing.js";
export { type GrpcCode, grpcCode } from "./grpc-code.js";
export { grpcStatusName } from "./grpc-status-name.js";
export type { MessageEncoding } from "./inflate-message.js";
export { GrpcMessageReader as MessageReader, type MessageReaderOptions, type MessageSink } from "./message-reader.js";

import type { ServiceDefinition } from "@grpc/grpc-js";

/** gRPC for Node wants a Buffer. */
export const wholeBytes = (message: Uint8Array): Buffer =>
  Buffer.from(message.buffer, message.byteOffset, message.byteLength);

/** A service of the one method `method`, at this path, whose messages are bytes. */
export function bytesService(path: string, isStream = true): ServiceDefinition {
  const bytes = { requestSerialize: wholeBytes, requestDeserialize: wholeBytes };
  const both = { ...bytes, responseSerialize: wholeBytes, responseDeserialize: wholeBytes };
  return { method: { path, requestStream: isStream, responseStream: isStream, ...both } };
}

/** gRPC status codes that a stream may end with; the numbers are gRPC's. */
export const statusCode = {
  ok: 0,
  invalidArgument: 3,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
} as const;

/** One of these codes. */
export type StatusCode = (typeof statusCode)[keyof typeof statusCode];

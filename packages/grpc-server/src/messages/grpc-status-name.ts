import { grpcCode } from "./grpc-code.js";

const names = new Map<number, string>(
  Object.entries(grpcCode).map(([name, code]) => [code, name.replace(/[A-Z]/g, "_$&").toUpperCase()]),
);

/** The name of a gRPC status: `UNAVAILABLE` for 14. */
export function grpcStatusName(code: number): string {
  return names.get(code) ?? `STATUS_${code}`;
}

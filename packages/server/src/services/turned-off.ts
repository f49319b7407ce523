import { statusCode } from "@xdskit/protocol";
import type { Refusal, Service, ServiceMethod } from "../contracts/transport.js";

/** A service that was turned off by the operator: a caller is told so, instead of only that the method is unknown. */
export function turnedOff({ name, methods }: Service, what: string): Service {
  const refusal: Refusal = { code: statusCode.unimplemented, message: `${what} is turned off on this server` };
  const refuse = ({ unary }: ServiceMethod): ServiceMethod => ({ unary, accept: () => refusal });
  return { name, methods: Object.fromEntries(Object.entries(methods).map(([key, method]) => [key, refuse(method)])) };
}

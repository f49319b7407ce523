import { statusCode } from "@xdskit/protocol";
import type { Refusal, Service, ServiceMethod } from "../transport.js";

/** The same service, turned off by whoever runs the server: who calls it is told so, and not only that a method is unknown. */
export function turnedOff({ name, methods }: Service, what: string): Service {
  const refusal: Refusal = { code: statusCode.unimplemented, message: `${what} is turned off on this server` };
  const refuse = ({ unary }: ServiceMethod): ServiceMethod => ({ unary, accept: () => refusal });
  return { name, methods: Object.fromEntries(Object.entries(methods).map(([key, method]) => [key, refuse(method)])) };
}

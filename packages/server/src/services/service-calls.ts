import { statusCode } from "@xdskit/protocol";
import type { Call, Refusal, Service, ServiceHandler, ServiceMethod } from "../contracts/transport.js";

/** The calls in progress of all services beside discovery. */
export function createServiceCalls(options: {
  /** Returns why no call is admitted, if so. */
  admit(): Refusal | undefined;
  /** Records that a call was refused. */
  refused(service: string, call: Call, refusal: Refusal): void;
  /** Records a fault of the server, which ends only the call, with INTERNAL. */
  fault(service: string, call: Call, error: unknown): void;
}) {
  const { admit, refused, fault } = options;
  const open = new Set<ServiceHandler>();

  function serveMethod(service: string, { unary, accept }: ServiceMethod): ServiceMethod {
    return {
      unary,
      accept(call) {
        const accepted = admit() ?? accept(call);
        if ("code" in accepted) {
          refused(service, call, accepted);
          return accepted;
        }
        const guard = (action: () => void) => {
          try {
            action();
          } catch (error) {
            fault(service, call, error);
            call.end(statusCode.internal, "internal error");
          }
        };
        const handler: ServiceHandler = {
          received: (bytes) => guard(() => accepted.received(bytes)),
          drained: () => guard(() => accepted.drained()),
          finished: () => guard(() => accepted.finished()),
          closed() {
            open.delete(handler);
            guard(() => accepted.closed());
          },
          stop: () => guard(() => accepted.stop()),
        };
        open.add(handler);
        return handler;
      },
    };
  }

  function noteErrors(service: string, { unary, accept }: ServiceMethod): ServiceMethod {
    const noting = (call: Call): Call => ({
      peer: call.peer,
      send: (body, tail) => call.send(body, tail),
      end(code, message) {
        if (code !== statusCode.ok) refused(service, call, { code, message });
        call.end(code, message);
      },
    });
    return { unary, accept: (call) => accept(noting(call)) };
  }

  return {
    get open(): number {
      return open.size;
    },
    /** The service with calls that `admit` admits, that are counted, and that stop when the server closes. */
    serve: (service: Service): Service => ofEach(service, (method) => serveMethod(service.name, method)),
    /** The same for a service that does not record itself the calls that it ends with an error. */
    serveNoting: (service: Service): Service =>
      ofEach(service, (method) => serveMethod(service.name, noteErrors(service.name, method))),
    /** Stops all. */
    stop() {
      for (const handler of open) handler.stop();
    },
  };
}

function ofEach({ name, methods }: Service, change: (method: ServiceMethod) => ServiceMethod): Service {
  return { name, methods: Object.fromEntries(Object.entries(methods).map(([key, method]) => [key, change(method)])) };
}

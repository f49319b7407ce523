import type { Call, Refusal, Service, ServiceHandler, ServiceMethod } from "../transport.js";

/** The calls of all services beside discovery that are under way. */
export interface ServiceCalls {
  readonly open: number;
  /** The service, whose calls are let in by `admit`, counted, and stopped when the server closes. */
  serve(service: Service): Service;
  /** Stops all. */
  stop(): void;
}

export function createServiceCalls(options: {
  /** Says why no call is let in, if so. */
  admit(): Refusal | undefined;
  /** Notes down that one was refused. */
  refused(service: string, call: Call, refusal: Refusal): void;
}): ServiceCalls {
  const { admit, refused } = options;
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
        const handler: ServiceHandler = {
          received: (bytes) => accepted.received(bytes),
          drained: () => accepted.drained(),
          finished: () => accepted.finished(),
          closed() {
            open.delete(handler);
            accepted.closed();
          },
          stop: () => accepted.stop(),
        };
        open.add(handler);
        return handler;
      },
    };
  }

  return {
    get open() {
      return open.size;
    },
    serve: ({ name, methods }) => ({
      name,
      methods: Object.fromEntries(Object.entries(methods).map(([key, method]) => [key, serveMethod(name, method)])),
    }),
    stop() {
      for (const handler of open) handler.stop();
    },
  };
}

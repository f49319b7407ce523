import { statusCode } from "@xdskit/protocol";
import type {
  Call,
  Refusal,
  ServedMethod,
  ServedService,
  Service,
  ServiceHandler,
  ServiceMethod,
} from "../contracts/transport.js";
import { gated } from "../gate/gated.js";
import type { EndableCall, OpenCall, OpenCalls } from "../gate/open-calls.js";
import type { Shares } from "../gate/shares.js";
import { UnprovenCall } from "../gate/unproven-call.js";
import type { Caller, Gate } from "../identity/caller.js";
import { nothingShown } from "../identity/evidence.js";

/** A call that ends at once when the server closes before it is known who calls. */
class UnprovenService extends UnprovenCall implements ServiceHandler {
  stop(): void {
    this.end(statusCode.ok, "");
  }
}

/** The calls in progress of all services beside discovery. */
export function createServiceCalls(options: {
  readonly gate: Gate;
  readonly openCalls: OpenCalls;
  readonly shares: Shares;
  /** Returns why no call is admitted, if so. */
  admit(): Refusal | undefined;
  /** Records that a call was refused. */
  refused(service: string, call: Call, refusal: Refusal): void;
  /** Records a fault of the server, which ends only the call, with INTERNAL. */
  fault(service: string, call: Call, error: unknown): void;
}) {
  const { gate, openCalls, shares, admit, refused, fault } = options;
  const open = new Set<ServiceHandler>();

  /** The gate of a call of a method that lets in others beside those whom a rule knows; `told` hears what it says. */
  function gateOf({ letsIn }: ServiceMethod, decided: (isIn: boolean | undefined) => void): Pick<Gate, "callerOf"> {
    if (letsIn === undefined) return gate;
    return {
      callerOf(evidence, from) {
        const decide = (isIn: boolean | undefined) => {
          decided(isIn);
          return isIn ? gate.anybody(from) : gate.callerOf(evidence, from);
        };
        const isIn = letsIn(evidence());
        return isIn instanceof Promise ? isIn.then(decide) : decide(isIn);
      },
    };
  }

  function serveMethod(service: string, name: string, method: ServiceMethod, isOpen: boolean): ServedMethod {
    const { unary, accept } = method;
    return {
      unary,
      accept(call) {
        const refuse = (refusal: Refusal) => {
          refused(service, call, refusal);
          return refusal;
        };
        const busy = admit();
        if (busy !== undefined) return refuse(busy);
        const from = { peer: call.peer, called: `${service}/${name}` };
        let isLetIn: boolean | undefined;
        const own = gateOf(method, (isIn) => {
          isLetIn = isIn;
        });
        const take = (caller: Caller, evidence: OpenCall["evidence"] | undefined) => {
          const accepted = accept(call, caller, isLetIn);
          if ("code" in accepted) return refuse(accepted);
          // No rule let it in, so no change of rules ends it: the service judges it.
          return taken(call, accepted, caller, isLetIn ? undefined : evidence);
        };
        if (isOpen) return take(gate.anybody(from), undefined);
        return gated(call, {
          gate: own,
          shares,
          from,
          accept: take,
          refuse,
          waiting: () => waiting(call),
        });
      },
    };

    function waiting(call: Call): UnprovenService {
      const left = () => open.delete(handler);
      const handler: UnprovenService = new UnprovenService(call, left, (error) => fault(service, call, error));
      open.add(handler);
      return handler;
    }

    /** `evidence`: undefined for a call that no change of rules ends. */
    function taken(call: Call, accepted: ServiceHandler, caller: Caller, evidence: OpenCall["evidence"] | undefined) {
      const guard = (action: () => void) => {
        try {
          action();
        } catch (error) {
          fault(service, call, error);
          call.end(statusCode.internal, "internal error");
        }
      };
      const handler: ServiceHandler & EndableCall = {
        received: (bytes) => guard(() => accepted.received(bytes)),
        drained: () => guard(() => accepted.drained()),
        finished: () => guard(() => accepted.finished()),
        closed() {
          open.delete(handler);
          openCalls.closed(handler);
          guard(() => accepted.closed());
        },
        stop: () => guard(() => accepted.stop()),
        end: (code, message) =>
          guard(() => (accepted.end === undefined ? call.end(code, message) : accepted.end(code, message))),
      };
      open.add(handler);
      // What is open to all stays so, whatever the rules.
      if (evidence !== undefined) openCalls.opened(handler, { caller, evidence });
      return handler;
    }
  }

  function noteErrors(service: string, { unary, accept, letsIn }: ServiceMethod): ServiceMethod {
    const noting = (call: Call): Call => ({
      peer: call.peer,
      evidence: () => (call.evidence ?? nothingShown)(),
      send: (body, tail) => call.send(body, tail),
      end(code, message) {
        if (code !== statusCode.ok) refused(service, call, { code, message });
        call.end(code, message);
      },
    });
    return { unary, letsIn, accept: (call, ...by) => accept(noting(call), ...by) };
  }

  return {
    get open(): number {
      return open.size;
    },
    /** The service with calls that `admit` admits, that are counted, and that stop when the server closes. */
    serve: (service: Service, isOpen = false): ServedService =>
      ofEach(service, (name, method) => serveMethod(service.name, name, method, isOpen)),
    /** The same for a service that does not record itself the calls that it ends with an error. */
    serveNoting: (service: Service, isOpen = false): ServedService =>
      ofEach(service, (name, method) => serveMethod(service.name, name, noteErrors(service.name, method), isOpen)),
    /** Stops all. */
    stop() {
      for (const handler of open) handler.stop();
    },
  };
}

function ofEach(
  { name, methods }: Service,
  change: (name: string, method: ServiceMethod) => ServedMethod,
): ServedService {
  const changed = Object.entries(methods).map(([key, method]) => [key, change(key, method)] as const);
  return { name, methods: Object.fromEntries(changed) };
}

import { envoyRegistry, type Registry, type ResourceTypes } from "@xdskit/api";
import type { CallInfo } from "../contracts/nodes/stream-info.js";
import type { KernelCalls } from "../contracts/parts/kernel.js";
import type { OfferedServices } from "../contracts/parts/part.js";
import type { Refusal, ServedService, Service } from "../contracts/transport.js";
import type { OpenCalls } from "../gate/open-calls.js";
import type { Shares } from "../gate/shares.js";
import type { Gate } from "../identity/caller.js";
import { discoveryMethods } from "../transports/discovery-methods.js";
import { createHealth } from "./health.js";
import { neverServed, notServed } from "./not-served.js";
import { createReflection } from "./reflection.js";
import { createServiceCalls } from "./service-calls.js";

/** All services of a server beside discovery. */
export interface Services {
  readonly all: readonly ServedService[];
  /** Their calls in progress. */
  readonly open: number;
  /** Call this when the server may have begun to serve, or stopped. */
  update(): void;
  /** Ends all calls with OK, because the server closes. */
  stop(): void;
}

interface ServicesOptions {
  readonly gate: Gate;
  readonly openCalls: OpenCalls;
  readonly shares: Shares;
  readonly types: ResourceTypes;
  readonly registry: Registry | undefined;
  readonly servesReflection: boolean;
  /** Those of the parts. */
  readonly offered: readonly OfferedServices[];
  readonly calls: KernelCalls;
  isServing(): boolean;
  /** Returns why no call is admitted, if so. */
  admit(): Refusal | undefined;
  /** Records that a call was refused. */
  refused(call: CallInfo, refusal: Refusal): void;
}

export function createServices(options: ServicesOptions): Services {
  const { gate, openCalls, shares, types, registry, servesReflection, offered, isServing, calls, admit, refused } =
    options;
  const guarded = createServiceCalls({
    gate,
    openCalls,
    shares,
    admit,
    refused: (service, { peer }, refusal) => refused(calls.info(service, peer), refusal),
    fault: (service, { peer }, error) => calls.fault(calls.info(service, peer), error),
  });
  const served = [...discoveryMethods(types).keys()];
  let stopped = false;
  const health = createHealth({ isServing: () => !stopped && isServing(), services: () => served });
  const reflection = createReflection({ services: () => served, registry: () => registry ?? envoyRegistry() });
  const reflectionOff = servesReflection
    ? undefined
    : "reflection (reflection in the settings) is turned off on this server";
  const all = neverServed.map((service) => guarded.serve(service));
  for (const { services, off, recordsErrors = false, isOpen = false } of [
    ...offered,
    // Balancers and kubelets, which ask it, have no credential; it says nothing of nodes.
    { services: [health.service], isOpen: true },
    { services: reflection, off: reflectionOff },
  ]) {
    if (off === undefined) served.push(...services.map(({ name }) => name));
    const refuse = ({ name, methods }: Service) => guarded.serve(notServed(name, methods, `${off}`));
    const serve = recordsErrors ? guarded.serve : guarded.serveNoting;
    all.push(...services.map((service) => (off === undefined ? serve(service, isOpen) : refuse(service))));
  }
  return {
    all,
    get open() {
      return guarded.open;
    },
    update: health.update,
    stop() {
      stopped = true;
      guarded.stop();
    },
  };
}

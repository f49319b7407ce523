import { Server, ServerCredentials, type ServerDuplexStream } from "@grpc/grpc-js";
import { resourceTypes } from "@xdskit/api";
import { baseWorld, drivenContent } from "../../driver/driven-content.js";
import { type Driver, driverSkills } from "../../driver/driver.js";
import { bytesService } from "../../wire/bytes-service.js";
import type { ProtocolVariant } from "../../wire/messages.js";
import { DeltaSession } from "./delta-session.js";
import type { Mistake } from "./mistakes.js";
import { referenceContent } from "./reference-content.js";
import { takeLoadReports } from "./reference-loads.js";
import { startReferenceRest } from "./reference-rest.js";
import { ReferenceState } from "./reference-state.js";
import { tellStatus } from "./reference-status.js";
import type { Outlet, Session, Shared } from "./session.js";
import { SotwSession } from "./sotw-session.js";

/** A management server for the conformance tests' own tests. It shares no code with xdskit's. */
export interface ReferenceServer {
  readonly address: string;
  readonly driver: Driver;
  /** Where it answers polls. */
  readonly rest: string;
  stop(): void;
}

type ServerCall = ServerDuplexStream<Uint8Array, Uint8Array>;

const unavailable = 14;
const ads = "envoy.service.discovery.v3.AggregatedDiscoveryService";

/** Starts it on a free port of 127.0.0.1, with the base world and with these mistakes. */
export async function startReferenceServer(wrong: readonly Mistake[] = []): Promise<ReferenceServer> {
  const mistakes = new Set(wrong);
  const state = new ReferenceState(referenceContent(drivenContent(baseWorld), mistakes), mistakes);
  const writing: Writing = { mistakes, last: Promise.resolve() };
  const outlets = new Set<Outlet>();
  const sessions = new Set<Session>();
  const endAll = (code: number): void => {
    for (const { end } of outlets) end(code, "all end");
  };
  const shared: Shared = { state, mistakes, endAll };
  /** The streams of each connection, and what lets each go on. */
  const streams = new Map<string, Map<Outlet, () => void>>();
  const server = new Server({
    "grpc.max_receive_message_length": -1,
    ...(mistakes.has("few-streams") ? { "grpc.max_concurrent_streams": 10 } : {}),
  });

  const handle = (variant: ProtocolVariant, only: string | undefined) => (call: ServerCall) => {
    const outlet = outletOf(call, writing);
    const beside = streams.get(call.getPeer()) ?? new Map<Outlet, () => void>();
    streams.set(call.getPeer(), beside);
    const waiting: Uint8Array[] = [];
    // A server of one stream hears the next one once that is over.
    const play = (): void => {
      while (waiting.length > 0 && (!mistakes.has("one-stream") || [...beside.keys()][0] === outlet)) {
        session.received(waiting.shift()!);
      }
    };
    beside.set(outlet, play);
    outlets.add(outlet);
    const session = variant === "sotw" ? new SotwSession(shared, outlet, only) : new DeltaSession(shared, outlet, only);
    const stop = state.join(session);
    sessions.add(session);
    call.on("data", (bytes: Uint8Array) => {
      waiting.push(bytes);
      play();
    });
    call.on("end", () => {
      if (mistakes.has("half-close-ignored")) return;
      outlet.end(mistakes.has("half-close-fails") ? 2 : 0, "");
    });
    const over = () => {
      stop();
      session.close();
      sessions.delete(session);
      outlets.delete(outlet);
      beside.delete(outlet);
      for (const next of beside.values()) next();
    };
    call.on("cancelled", over);
    call.on("close", over);
    call.on("error", () => {});
  };
  for (const [path, variant, only] of methods()) {
    server.addService(bytesService(path), { method: handle(variant, only) });
  }
  const serve = (path: string, take: (outlet: Outlet) => (bytes: Uint8Array) => void) => {
    const method = (call: ServerCall) => {
      const outlet = outletOf(call, writing);
      call.on("data", take(outlet));
      call.on("end", () => outlet.end(0, ""));
      call.on("error", () => {});
    };
    server.addService(bytesService(path), { method });
  };
  serve("/envoy.service.load_stats.v3.LoadReportingService/StreamLoadStats", (to) => takeLoadReports(to, mistakes));
  for (const method of ["FetchClientStatus", "StreamClientStatus"]) {
    const path = `/envoy.service.status.v3.ClientStatusDiscoveryService/${method}`;
    serve(path, (to) => tellStatus(to, sessions, mistakes));
  }
  const rest = await startReferenceRest(state, mistakes);
  const port = await new Promise<number>((resolve, reject) => {
    const bound = (error: Error | null, port: number) => (error === null ? resolve(port) : reject(error));
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), bound);
  });
  let isDeaf = false;
  return {
    address: `127.0.0.1:${port}`,
    driver: {
      async set(next) {
        if (!isDeaf) state.set(referenceContent(next, mistakes));
      },
      skills: new Set(driverSkills),
      async restart() {
        isDeaf = mistakes.has("restart-deaf");
        endAll(unavailable);
      },
      close() {},
    },
    rest: rest.url,
    stop() {
      server.forceShutdown();
      rest.server.closeAllConnections();
      rest.server.close();
    },
  };
}

/** What all calls share that are written to. */
interface Writing {
  readonly mistakes: ReadonlySet<Mistake>;
  last: Promise<void>;
}

function outletOf(call: ServerCall, writing: Writing): Outlet {
  let isOver = false;
  let unread = 0;
  const over = new Promise<void>((resolve) => {
    call.once("cancelled", resolve);
  });
  const write = async (bytes: Uint8Array): Promise<void> => {
    unread++;
    await Promise.race([over, new Promise<void>((resolve) => call.write(bytes, () => resolve()))]);
    unread--;
  };
  return {
    send: (bytes) => {
      if (isOver || (unread > 0 && writing.mistakes.has("drops-when-slow"))) return;
      if (writing.mistakes.has("waits-for-slow")) writing.last = writing.last.then(() => write(bytes));
      else void write(bytes);
    },
    end(code, message) {
      if (isOver) return;
      isOver = true;
      if (code === 0) call.end();
      else call.emit("error", { code, details: message });
    },
  };
}

/** Every method: its path, its variant, and the type of a service of one type. */
function methods(): readonly (readonly [path: string, variant: ProtocolVariant, only: string | undefined])[] {
  const words = ["cluster", "endpoint", "listener", "route", "secret", "runtime", "scoped-route", "extension-config"];
  const single = words.flatMap((word) => {
    const { typeUrl, services } = resourceTypes.find(word)!;
    const { service, stream, delta } = services.v3!;
    return [
      [`/${service}/${stream}`, "sotw", typeUrl],
      [`/${service}/${delta}`, "delta", typeUrl],
    ] as const;
  });
  return [
    [`/${ads}/StreamAggregatedResources`, "sotw", undefined],
    [`/${ads}/DeltaAggregatedResources`, "delta", undefined],
    ...single,
  ];
}

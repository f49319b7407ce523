import type { Clock, ResourceTypes } from "@xdskit/api";
import type { Arrivals } from "../arrivals/arrivals.js";
import type { LayerChange, Layers } from "../configuration/layers.js";
import type { Events } from "../contracts/events.js";
import type { WorkerStats } from "../contracts/stats.js";
import type { Transport } from "../contracts/transport.js";
import type { XdsServer } from "../contracts/xds-server.js";
import { allEventLoops, endedEventLoop } from "../event-loop/all-event-loops.js";
import type { EventLoopStats } from "../event-loop/event-loop-stats.js";
import type { Counters } from "../streams/counters.js";
import type { Publication } from "../streams/publication.js";
import type { Rejections } from "../streams/rejections.js";
import type { Renewable, TlsContents } from "../tls/server-tls.js";
import { listenError } from "../transports/listening.js";
import { callLimitsOf } from "./call-turns.js";
import { frequentEvents } from "./frequent-events.js";
import { bindSocket, type GivenSocket, type ListeningSocket } from "./listening-socket.js";
import type { PackedChange, ToWorker, WorkerCounters, WorkerSettings } from "./messages.js";
import { createPacking } from "./packed-resources.js";
import { createStatusUnpacking } from "./packed-status.js";
import type { RemoteStream } from "./remote-stream.js";
import { createRemoteWorker, type RemoteWorker, type WorkerHost } from "./remote-worker.js";
import type { SharedNumbers } from "./shared-numbers.js";
import { createSummedCounters } from "./summed-counters.js";
import { defaultPatience } from "./worker-thread.js";

/** What workers share with the server that they belong to. */
export interface WorkersContext {
  readonly count: number;
  readonly types: ResourceTypes;
  readonly clock: Clock;
  readonly layers: Layers;
  readonly publication: Publication;
  readonly arrivals: Arrivals;
  readonly rejections: Rejections;
  readonly events: Events;
  readonly counters: Counters;
  readonly numbers: SharedNumbers;
  /** Streams and calls that are open in this thread. */
  openHere(): number;
  /** The streams of all workers, for the ledger. */
  readonly streams: Set<RemoteStream>;
  readonly settings: Omit<WorkerSettings, "worker" | "numbers" | "calls" | "services" | "tls">;
}

/** Discovery over gRPC in several threads: a transport whose streams are not here. */
export interface WorkerPool extends Transport, Renewable {
  /**
   * To be called before a change is published, and `update` after it: it goes to the workers with what the publication
   * decides about their streams.
   */
  changed(changes: readonly LayerChange[], rollout?: unknown): void;
  /** Somebody waits for streams, or nobody does any longer. */
  awaited(isAwaited: boolean): void;
  /** Something happened by which streams may be told what there is. */
  update(): void;
  /** What all threads counted. */
  counters(): WorkerCounters;
  /** Of all workers, those that ended included, as they were told with the last counters. */
  readonly eventLoops: readonly EventLoopStats[];
  readonly workers: readonly WorkerStats[];
  /** For tests: ends a worker as a fault would. */
  kill(worker: number): Promise<unknown>;
}

/**
 * A worker that ends is started again after so many milliseconds, each time twice as many, and from the first again
 * after it has lived so long.
 */
const restart = { firstMs: 100, longestMs: 30_000, livedMs: 60_000 } as const;

/** A place for a worker, which one after the other may have. */
interface Place {
  readonly number: number;
  worker: RemoteWorker | undefined;
  restarts: number;
  delayMs: number;
  timer: NodeJS.Timeout | undefined;
}

export function createWorkerPool(context: WorkersContext): WorkerPool {
  const { types, layers, publication, events, counters, numbers, streams } = context;
  const packing = createPacking();
  const summed = createSummedCounters();
  const places = Array.from({ length: context.count }, (_, index): Place => {
    return { number: index + 1, worker: undefined, restarts: 0, delayMs: restart.firstMs, timer: undefined };
  });
  const touched = new Set<RemoteStream>();
  const sockets: ListeningSocket[] = [];
  let services: WorkerSettings["services"] = [];
  let tls: TlsContents | undefined;
  let host: WorkerHost | undefined;
  let endedLoops: readonly EventLoopStats[] = [];
  let scheduled = false;
  let wasOpen = false;
  let frequent = false;
  let closing = false;
  let isAwaited = false;
  /** What streams stand like decides what others are to have, from the first rollout on. */
  let decides = [context.settings, ...(context.settings.groups ?? [])].some(
    ({ onReject, rollout }) => onReject === "lastGood" || typeof rollout === "object",
  );
  /** What streams hear of just now, their sessions hear of too. */
  let isPublishing = false;

  function wake(): void {
    if (scheduled) return;
    scheduled = true;
    queueMicrotask(settle);
  }
  function settle(): void {
    scheduled = false;
    for (const stream of touched) stream.look();
    touched.clear();
    for (const { worker } of places) worker?.flush();
    scheduled = false;
  }
  const running = () => places.flatMap(({ worker }) => worker ?? []);
  function postAll(message: ToWorker): void {
    for (const worker of running()) worker.post(message);
  }
  let isWatched = decides;
  const tell = (): ToWorker => ({ kind: "tell", frequent, progress: isWatched });

  /** While nobody wants to know how streams stand, they cost this thread nothing. */
  function watch(): void {
    if (isWatched === (decides || isAwaited)) return;
    isWatched = !isWatched;
    postAll(tell());
    if (isWatched) for (const stream of streams) stream.watched();
    wake();
  }

  function packed({ layer, upserted, removed }: LayerChange): PackedChange {
    return {
      layer,
      upserted: packing.packAll(upserted),
      dropped: layers.get(layer) === undefined,
      removed: removed.map(({ type, name }) => [type.typeUrl, name] as const),
    };
  }
  /** What a worker that starts has to know. */
  function everything(): readonly PackedChange[] {
    return layers.names.map((layer) => {
      const upserted = [...(layers.get(layer)?.sets.values() ?? [])].flatMap((set) => [...set]);
      return packed({ layer, upserted, removed: [] });
    });
  }

  function start(place: Place): RemoteWorker {
    const startedAt = performance.now();
    const settings: WorkerSettings = {
      ...context.settings,
      worker: place.number,
      numbers: numbers.buffer,
      calls: callLimitsOf(context.count),
      services,
      tls,
    };
    const state = { changes: everything(), isOpen: wasOpen, tell: tell() };
    const worker = createRemoteWorker(host as WorkerHost, settings, state, (reason) => {
      const loop = place.worker?.eventLoop;
      if (loop !== undefined) endedLoops = [allEventLoops([...endedLoops, endedEventLoop(loop)]) ?? loop];
      place.worker = undefined;
      numbers.setOpen(place.number, 0);
      numbers.setConnections(place.number, undefined);
      summed.end(place.number);
      if (closing) return;
      if (performance.now() - startedAt > restart.livedMs) place.delayMs = restart.firstMs;
      const restartMs = place.delayMs;
      events.emit(() => ({ kind: "worker-ended", worker: place.number, reason, restartMs }));
      place.delayMs = Math.min(place.delayMs * 2, restart.longestMs);
      place.timer = setTimeout(() => void repair(place), restartMs).unref();
    });
    place.worker = worker;
    return worker;
  }

  async function repair(place: Place): Promise<void> {
    place.restarts += 1;
    const worker = start(place);
    try {
      for (const socket of sockets) await worker.listen(socket.address, await socket.take());
      events.emit(() => ({ kind: "worker-started", worker: place.number }));
    } catch {
      // It ended once more, or cannot accept: then it is of no use, and another is tried.
      await worker.terminate();
    }
  }

  return {
    async listen(address, accept, served) {
      services = served.map(({ name, methods }) => ({
        name,
        methods: Object.entries(methods).map(([method, { unary }]) => ({ name: method, unary })),
      }));
      host ??= {
        types,
        packing,
        accept,
        services: served,
        streams,
        wake,
        settle,
        unpacking: createStatusUnpacking(types),
        clock: context.clock,
        publication,
        arrivals: context.arrivals,
        isPublishing: () => isPublishing,
        isWatched: () => isWatched,
        callsChanged: () => numbers.setOpen(0, context.openHere()),
        touched(stream) {
          touched.add(stream);
          wake();
        },
        emit(event) {
          if (event.kind === "rejected") {
            const { stream, type, version } = event;
            if (!context.rejections.first(stream.node.id, type.typeUrl, version)) return;
          }
          events.emit(() => event);
        },
      };
      this.update();
      const socket = await bindSocket(address);
      try {
        const workers = places.map((place) => place.worker ?? start(place));
        const given: GivenSocket[] = [];
        for (const _ of workers) given.push(await socket.take());
        // Now: one that ends while another is not ready yet is repaired as well.
        sockets.push(socket);
        await Promise.all(workers.map((worker, index) => worker.listen(socket.address, given[index] as GivenSocket)));
      } catch (error) {
        sockets.splice(sockets.indexOf(socket) >>> 0, 1);
        socket.close();
        throw listenError(address, error as Error);
      }
      return socket.address;
    },
    renew(contents) {
      tls = contents;
      postAll({ kind: "renew", tls });
      wake();
    },
    async close(timeoutMs) {
      closing = true;
      for (const { timer } of places) clearTimeout(timer);
      for (const socket of sockets) socket.close();
      this.counters();
      await Promise.all(running().map((worker) => worker.close(timeoutMs)));
    },
    changed(changes, rollout) {
      isPublishing = true;
      decides ||= typeof rollout === "object";
      watch();
      for (const worker of running()) worker.outdate();
      if (running().length > 0 && changes.length > 0) postAll({ kind: "layers", changes: changes.map(packed) });
      wake();
    },
    awaited(next) {
      isAwaited = next;
      watch();
    },
    update() {
      isPublishing = false;
      const wanted = [...frequentEvents].some((kind) => events.wants(kind));
      if (wanted !== frequent) {
        frequent = wanted;
        postAll(tell());
      }
      if (wasOpen || !publication.isOpen) return;
      wasOpen = true;
      postAll({ kind: "open" });
    },
    counters() {
      const until = performance.now() + defaultPatience.askMs;
      for (const worker of running()) worker.prompt();
      for (const { number, worker } of places) {
        const counted = worker?.counters(until);
        if (counted !== undefined) summed.note(number, counted);
      }
      const { streams, types, fetches, refused, waitsEnded } = counters;
      return summed.plus({ streams, types, fetches, refused, waitsEnded });
    },
    get eventLoops() {
      return [...endedLoops, ...running().flatMap(({ eventLoop }) => eventLoop ?? [])];
    },
    get workers() {
      return places.map(({ number, worker, restarts }) => {
        return { worker: number, isUp: worker !== undefined, streams: worker?.streams ?? 0, restarts };
      });
    },
    kill: async (number) => places.find((place) => place.number === number)?.worker?.terminate(),
  };
}

/** The workers of a server, for tests that end one. */
export const pools = new WeakMap<XdsServer, WorkerPool>();

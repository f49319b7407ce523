import { ApiProblem } from "../contract/problem.js";
import { type ApiEvent, type EventRing, resetData } from "./event-ring.js";

/** How many readers there may be. */
const maxReaders = 100;
/** The bytes that may wait for a reader. */
const maxWaiting = 4 * 1024 * 1024;
/** The bytes of missed events that a reader is sent when it comes back. The rest is for what comes meanwhile. */
const maxMissed = maxWaiting / 2;
/** A comment after this much silence keeps the connection open. */
const heartbeatMs = 15_000;

/** Whether readers may still read is looked at this often. */
const lookMs = 1_000;

/** Who reads. */
interface ReaderFrom {
  /** Where it comes from. */
  readonly address: string;
  /** Whether it may still read. */
  stillReads(): boolean;
}

interface EventReader extends ReaderFrom {
  send(text: string): void;
  end(): void;
}

/** Sends events to readers, each from where it was. */
export class EventStreams {
  readonly #ring: EventRing;
  readonly #readers = new Set<EventReader>();
  readonly #timers: readonly NodeJS.Timeout[];
  readonly #stop: () => void;

  constructor(ring: EventRing) {
    this.#ring = ring;
    this.#stop = ring.listen((event) => this.#tell(textOf(event)));
    this.#timers = [
      setInterval(() => this.#tell(": \n\n"), heartbeatMs).unref(),
      setInterval(() => this.#look(), lookMs).unref(),
    ];
  }

  get readers(): number {
    return this.#readers.size;
  }

  /**
   * A stream of all events from now on, or after the one that a reader had last. Throws a problem if there are too many
   * readers. An address that has few of them gets a place of the one that has the most.
   */
  open(last: string | undefined, from: ReaderFrom): ReadableStream<Uint8Array> {
    if (this.#readers.size >= maxReaders && !this.#makeRoom(from.address))
      throw ApiProblem.of(503, "XDSKIT_BUSY", `${maxReaders} others read events already`);
    const missed = last === undefined ? [] : this.#ring.after(last);
    const start = (missed && textOfMissed(missed)) ?? resetText(this.#ring.last);
    let reader: EventReader | undefined;
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          reader = this.#add(controller, from);
          reader.send(`retry: 1000\n: events of xdskit\n\n${start}`);
        },
        cancel: () => {
          if (reader !== undefined) this.#readers.delete(reader);
        },
      },
      // A reader that is further behind is cut off, and resumes later where it was.
      new ByteLengthQueuingStrategy({ highWaterMark: maxWaiting }),
    );
  }

  close(): void {
    this.#stop();
    for (const timer of this.#timers) clearInterval(timer);
    for (const reader of this.#readers) reader.end();
  }

  /** Ends the oldest reader of the address that has the most, unless that is this one, or would then have fewer. */
  #makeRoom(address: string): boolean {
    const counts = new Map<string, number>();
    for (const reader of this.#readers) counts.set(reader.address, (counts.get(reader.address) ?? 0) + 1);
    const [most = "", count = 0] = [...counts].sort(([, a], [, b]) => b - a)[0] ?? [];
    if (count <= (counts.get(address) ?? 0) + 1) return false;
    for (const reader of this.#readers) {
      if (reader.address !== most) continue;
      reader.end();
      return true;
    }
    return false;
  }

  #add(controller: ReadableStreamDefaultController<Uint8Array>, from: ReaderFrom): EventReader {
    const reader: EventReader = {
      address: from.address,
      stillReads: () => from.stillReads(),
      send: (text) => {
        try {
          controller.enqueue(Buffer.from(text));
          if ((controller.desiredSize ?? 0) > 0) return;
          controller.error(new Error("the reader is too slow"));
        } catch {
          // The reader has gone already. The writer of a change must not hear of that.
        }
        this.#readers.delete(reader);
      },
      end: () => {
        this.#readers.delete(reader);
        try {
          controller.close();
        } catch {
          // It has gone already.
        }
      },
    };
    this.#readers.add(reader);
    return reader;
  }

  /** Ends those whose token or certificate has ended, or whose role was taken away. */
  #look(): void {
    for (const reader of this.#readers) if (!reader.stillReads()) reader.end();
  }

  #tell(text: string): void {
    for (const reader of this.#readers) reader.send(text);
  }
}

function textOf({ id, kind, data }: ApiEvent): string {
  return `id: ${id}\nevent: ${kind}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Undefined: it is too much for a reader to wait for, and would be again each time that it comes back. */
function textOfMissed(events: readonly ApiEvent[]): string | undefined {
  const texts: string[] = [];
  let bytes = 0;
  for (const event of events) {
    const text = textOf(event);
    bytes += Buffer.byteLength(text);
    if (bytes > maxMissed) return undefined;
    texts.push(text);
  }
  return texts.join("");
}

/** Events are missing: a reader must look at everything again. */
function resetText(last: string): string {
  return textOf({ id: last, kind: "reset", data: resetData });
}

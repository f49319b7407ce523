import type { Bounds } from "../verdicts/bounds.js";
import { Failed } from "../verdicts/verdicts.js";
import type { BidiCall, Connection } from "./connection.js";
import { PeerArrivals } from "./peer-arrivals.js";
import type { Transcript } from "./transcript.js";

/** The status of gRPC for a method that the server does not have. */
export const unimplemented = 12;

/** How a stream ended: gRPC's status. */
export interface StreamEnd {
  readonly code: number;
  readonly message: string;
}

export interface CallOptions {
  readonly path: string;
  readonly connection: Connection;
  readonly transcript: Transcript;
  /** Before each line of the transcript, if the check has several streams. */
  readonly label: string;
  readonly bounds: Bounds;
}

/** A call to a server: what comes is read, noted, and waited for. */
export abstract class CallStream {
  protected readonly bounds: Bounds;
  protected readonly transcript: Transcript;
  readonly #connection: Connection;
  readonly #label: string;
  readonly #call: BidiCall;
  #end: StreamEnd | undefined;
  #unreadable: string | undefined;
  #isCancelled = false;
  readonly #arrivals = new PeerArrivals();

  constructor({ path, connection, transcript, label, bounds }: CallOptions) {
    this.bounds = bounds;
    this.transcript = transcript;
    this.#connection = connection;
    this.#label = label;
    this.#call = connection.call(path);
    this.#call.on("data", (bytes: Uint8Array) => this.#received(bytes));
    this.#call.on("status", ({ code, details }) => {
      this.#end = { code, message: details };
      this.note(`! ended ${code} ${details}`.trimEnd());
      this.#arrivals.arrived();
    });
    // The status says it all.
    this.#call.on("error", () => {});
  }

  /** Takes what came, and notes it. Throws if it cannot be read. */
  protected abstract read(bytes: Uint8Array): void;

  #received(bytes: Uint8Array): void {
    try {
      this.read(bytes);
    } catch (error) {
      this.#unreadable = error instanceof Error ? error.message : String(error);
      this.note(`< ${bytes.length} bytes that are no response: ${this.#unreadable}`);
    }
    this.#arrivals.arrived();
  }

  protected note(line: string): void {
    if (!this.#isCancelled) this.transcript.add(`${this.#label}${line}`);
  }

  protected write(bytes: Uint8Array): void {
    if (this.#end === undefined) this.#call.write(bytes);
  }

  /** How the server ended the stream; undefined while it has not. */
  get end(): StreamEnd | undefined {
    return this.#end;
  }

  /** Ends the client's side. */
  finish(): void {
    this.note("> end");
    this.#call.end();
  }

  /** Ends the stream at once; nothing is awaited. */
  cancel(): void {
    this.#isCancelled = true;
    this.#call.cancel();
  }

  /** The status that the server ends the stream with. Throws Failed if it does not. */
  async ended(): Promise<StreamEnd> {
    const end = await this.until(() => this.#end);
    if (end === undefined) throw new Failed(`the stream had not ended ${this.bounds.answerMs} ms later`);
    return end;
  }

  protected quiet(): Promise<void> {
    this.note("…");
    return this.#connection.quiet();
  }

  /** Throws Failed if the stream is over, or the server sent something else than responses. */
  protected check(): void {
    if (this.#unreadable !== undefined) throw new Failed(`what came is no response: ${this.#unreadable}`);
    if (this.#end === undefined) return;
    const { code, message } = this.#end;
    throw new Failed(`the server ended the stream: status ${code}${message === "" ? "" : ` (${message})`}`);
  }

  /** What `look` gives, as soon as it does; undefined after the time for an answer. */
  protected until<T>(look: () => T | undefined): Promise<T | undefined> {
    return this.#connection.awaited(this.#arrivals, look);
  }

  /** The same. Throws Failed once nothing can come any more. */
  protected untilOver<T>(look: () => T | undefined): Promise<T | undefined> {
    return this.until(() => {
      const found = look();
      if (found === undefined) this.check();
      return found;
    });
  }
}

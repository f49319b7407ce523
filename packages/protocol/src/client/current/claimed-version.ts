import type { Version } from "@xdskit/api";
import type { CurrentResource } from "./current-resources.js";

/** Stands for the number of a stream, of content that came on none. */
export const fromElsewhere = 0;

/**
 * The version of one type that a client may claim in a request (rule 37). A claim says that the client holds everything
 * that it asks for at this version, so a server sends it nothing of that again.
 */
export class ClaimedVersion {
  readonly #isFullState: boolean;
  readonly #stream: () => number;
  /** Of the last accepted response; empty if there is none, or if it is another server's. */
  #version: Version = "";
  /**
   * Undefined as long as the client holds the server's resources of that version. Else the stream on which a part was
   * lost, or kept in its earlier state; or `fromElsewhere`.
   */
  #lostOn: number | undefined;
  /** What that version is of, if it is from elsewhere: no response was taken since. */
  #claimedFor: "all" | "names" | undefined;
  /** The newest stream on which everything was asked for after other names: its responses may be of those alone. */
  #widenedOn: number | undefined;

  /** `isFullState`: each response of the type has all of it. `stream`: the number of the newest stream, from 1. */
  constructor(isFullState: boolean, stream: () => number) {
    this.#isFullState = isFullState;
    this.#stream = stream;
  }

  get version(): Version {
    return this.#version;
  }

  get isWhole(): boolean {
    return this.#lostOn === undefined;
  }

  /** For a request. `replaces`: it is the first one of its stream, or the server has not answered the last one. */
  inRequest(isFirst: boolean, replaces: boolean): Version {
    // Before any answer, each request replaces the last.
    const isFresh = isFirst || (replaces && this.#claimedFor !== undefined);
    return isFresh && !this.isWhole ? "" : this.#version;
  }

  /** The content came from elsewhere; `isAll`: all that there is. */
  hold(version: Version, isAll: boolean): void {
    this.#version = version;
    this.#lostOn = undefined;
    this.#claimedFor = isAll ? "all" : "names";
  }

  /** The next server knows no version of the last one. */
  forget(): void {
    this.#version = "";
  }

  acknowledged(version: Version): void {
    this.#version = version;
  }

  /** Everything is asked for, or one more name, of which this is current. `isAsked`: after a request on this stream. */
  widened(isWildcard: boolean, current: CurrentResource | undefined, isAsked: boolean): void {
    if (isWildcard && isAsked) this.#widenedOn = this.#stream();
    // The previous content was not everything.
    if (isWildcard ? this.#claimedFor !== "all" : this.#claimedFor !== undefined && current === undefined)
      this.#lostOn ??= fromElsewhere;
    // A response came since, at a newer version, and this server was not asked for the name.
    else if (this.#claimedFor === undefined && current?.stream === fromElsewhere) this.lose();
  }

  /** What was there because of a name is dropped; `isEmpty`: nothing is left. */
  narrowed(isEmpty: boolean): void {
    if (isEmpty) this.#lostOn ??= fromElsewhere;
    if (this.#claimedFor === "all") this.#claimedFor = "names";
  }

  /** A part of the content is lost, or kept in its earlier state. */
  lose(): void {
    this.#lostOn = this.#stream();
  }

  /**
   * A response was taken. `isGood`: as a whole; `isPart`: what it does not name may exist; `isChanged`: it changed
   * something.
   */
  taken({ isGood, isPart, isChanged }: Record<"isGood" | "isPart" | "isChanged", boolean>): void {
    // A response that is no full state does not name the lost resources. Lost resources come on another stream, which
    // asks without a version.
    const isAll = this.#isFullState || this.#lostOn !== this.#stream();
    if (isGood) this.#claimedFor = undefined;
    if (isGood && !isPart && isAll && this.#widenedOn !== this.#stream()) this.#lostOn = undefined;
    else if (isChanged) this.lose();
  }
}

import { errorsIn, type Finding, hasErrors, type XdskitError } from "@xdskit/api";
import type { Events } from "../contracts/events.js";
import type { RolledBack, Source } from "../contracts/source.js";
import type { RefusedChanges } from "./refused-changes.js";
import type { SourceTroubles } from "./source-troubles.js";

interface ServedSourceContext {
  readonly troubles: SourceTroubles;
  readonly refusedChanges: RefusedChanges;
  readonly events: Events;
  tellRefusal(source: string, findings: readonly Finding[]): void;
}

/** What the server has under a source's name when the source is added; `content`: of a source that is gone. */
export type Predecessor = "nothing" | "content" | "source";

/**
 * `successor`: another source of the name serves, and this one is starting; `started-successor`: this one has started,
 * but all that it had was refused; `in-place`: it is the source of its name.
 */
type SourcePlace = "successor" | "started-successor" | "in-place";

/**
 * What is known of one source of the configuration, and told of it.
 *
 * While another source of its name serves, it is a successor, which may never replace the other one. So what
 * is told of the other one stays, and refusals of this one are told beside that. It takes the place once it has
 * `started`, unless all that it had was refused.
 */
export class ServedSource {
  readonly #source: Source;
  readonly #context: ServedSourceContext;
  /**
   * The first change is not judged, unless the source says what it had before a restart: clients that had something
   * else are brought to it in order. A source that replaces another one has no first change.
   */
  readonly #isFirst: boolean;
  #place: SourcePlace;
  /** Of all that it has brought so far: whether something was applied; if not, whether its last attempt was refused. */
  #content: "none" | "refused" | "applied" = "none";
  #rolledBack: readonly RolledBack[] = [];
  /** What was found since the last change that was applied. */
  #newest: readonly Finding[] | undefined;
  /** Whether what it applied lacks what had errors. */
  #inPart = false;
  /** The findings of the last refusal: the source may report them as well. */
  #reported: ReadonlySet<string> = new Set();

  constructor(source: Source, predecessor: Predecessor, context: ServedSourceContext) {
    this.#source = source;
    this.#context = context;
    this.#isFirst = predecessor === "nothing";
    this.#place = predecessor === "source" ? "successor" : "in-place";
    if (this.#place === "in-place") this.#tellPlace();
  }

  /** Its change is in the layers. */
  applied(): void {
    this.#content = "applied";
    this.#newest = undefined;
    this.#takePlace();
  }

  /** Its change was refused. */
  refused({ findings }: XdskitError): void {
    this.#reported = new Set(findings.map(({ message }) => message));
    this.#refused(findings);
  }

  /** See `SourceSink`. */
  rolledBack(layers: readonly RolledBack[]): void {
    this.#rolledBack = layers;
    if (this.#place === "in-place") this.#context.troubles.rolledBack(this.#source.name, layers);
  }

  /** See `SourceSink`. */
  report(findings: readonly Finding[], inPart: boolean): void {
    this.#newest = findings;
    this.#inPart = inPart;
    const errors = errorsIn(findings);
    const isNew = ({ message }: Finding) => !this.#reported.has(message);
    // It has something else by now, which cannot be applied.
    if (errors.some((error) => error.code !== "XDSKIT_REFERENCE_BROKEN" && isNew(error)))
      this.#context.refusedChanges.forget(this.#source);
    if (errors.some(isNew)) this.#refused(findings);
    else this.#found(findings);
    if (errors.length > 0) return;
    if (this.#content === "refused") this.#content = "none";
    this.#takePlace();
  }

  /** The source's start has resolved. */
  started(): void {
    if (this.#place === "successor") this.#place = "started-successor";
    this.#takePlace();
  }

  /** The source is gone, or could not start. */
  forget(): void {
    this.#context.refusedChanges.forget(this.#source);
    this.#context.troubles.foundInSuccessor(this.#source, []);
  }

  /** Whether judges may refuse its next change. */
  get canBeJudged(): boolean {
    return !this.#isFirst || this.#content === "applied";
  }

  #takePlace(): void {
    if (this.#place !== "started-successor" || this.#content === "refused") return;
    this.#context.troubles.foundInSuccessor(this.#source, []);
    this.#place = "in-place";
    this.#tellPlace();
    if (this.#newest !== undefined) this.#found(this.#newest);
  }

  #tellPlace(): void {
    const { refusedChanges, troubles } = this.#context;
    refusedChanges.forgetOthers(this.#source);
    // Another source of this name may have been rolled back.
    troubles.rolledBack(this.#source.name, this.#rolledBack);
  }

  #refused(findings: readonly Finding[]): void {
    const { troubles, tellRefusal } = this.#context;
    const { name } = this.#source;
    if (this.#content === "none") this.#content = "refused";
    this.#newest = findings;
    if (this.#place === "in-place") {
      troubles.found(name, findings, this.#inPart);
      tellRefusal(name, findings);
      return;
    }
    // One that is tried again and again with the same errors is told once.
    if (!troubles.isTriedAgain(this.#source, findings)) tellRefusal(name, findings);
    troubles.foundInSuccessor(this.#source, findings);
  }

  /** The last attempt has these findings, and the errors among them were told. */
  #found(findings: readonly Finding[]): void {
    const { troubles, events } = this.#context;
    const { name } = this.#source;
    if (this.#place !== "in-place") {
      troubles.foundInSuccessor(this.#source, findings);
      return;
    }
    troubles.found(name, findings, this.#inPart);
    if (!hasErrors(findings)) events.emit("configuration-checked", () => ({ source: name, findings }));
  }
}

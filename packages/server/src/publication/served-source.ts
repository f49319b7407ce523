import { errorsIn, type Finding, hasErrors } from "@xdskit/api";
import type { Events } from "../contracts/events.js";
import type { LayerChange } from "../contracts/layer-change.js";
import type { LayerUpdate, RolledBack, Source, SourceSink, StepBack } from "../contracts/source.js";
import type { LayerName } from "../settings/group-settings.js";
import type { RefusedChanges } from "./refused-changes.js";
import type { SourceTroubles } from "./source-troubles.js";
import type { TakenChange, WantedChange } from "./take-change.js";

/** What a source needs of the configuration that it is a part of. */
interface ServedSourceContext {
  readonly troubles: SourceTroubles;
  readonly refusedChanges: RefusedChanges;
  readonly events: Events;
  /** Takes a change into the layers; `publish` tells streams. */
  take(wanted: WantedChange): TakenChange;
  /** See `SourceSink`. */
  check(updates: readonly LayerUpdate[], isJudged: boolean): readonly Finding[];
  /** See `SourceSink`. */
  took(ms: number): void;
  /** See `SourceSink`. */
  drop(layer: LayerName): void;
  publish(changes: readonly LayerChange[], isLater: boolean): void;
  resume(steps: readonly StepBack[]): void;
  /** See `SourceSink`. */
  rememberedMs(): number;
  tellRefusal(findings: readonly Finding[]): void;
  ended(): void;
}

/** What the server has under a source's name when the source is added; `content`: of a source that is gone. */
export type Predecessor = "nothing" | "content" | "source";

/**
 * `successor`: another source of the name serves, and this one is starting; `started-successor`: this one has started,
 * but all that it had was refused; `in-place`: it is the source of its name.
 */
type SourcePlace = "successor" | "started-successor" | "in-place";

/**
 * One source of the configuration: takes its changes, and tells what becomes of them.
 *
 * While another source of its name serves, it is a successor, which may never replace the other one. So what
 * is told of the other one stays, and refusals of this one are told beside that. It takes the place once it has
 * `started`, unless all that it had was refused.
 */
export class ServedSource implements SourceSink {
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

  readonly apply: SourceSink["apply"] = (updates, { isJudged: isAsked = true, since, isRestored = false } = {}) => {
    const { refusedChanges, take, publish } = this.#context;
    if (!isRestored) refusedChanges.forget(this.#source);
    const isJudged = isAsked && this.#canBeJudged;
    const taken = take({ source: this.#source, updates, isJudged, since });
    if ("refusal" in taken) {
      const { refusal } = taken;
      this.#reported = new Set(refusal.findings.map(({ message }) => message));
      this.#refused(refusal.findings);
      throw refusal;
    }
    this.#content = "applied";
    this.#newest = undefined;
    this.#takePlace();
    publish(taken.changes, isJudged);
  };

  readonly check = (updates: readonly LayerUpdate[]): readonly Finding[] =>
    this.#context.check(updates, this.#canBeJudged);

  readonly took = (ms: number): void => this.#context.took(ms);

  readonly drop = (layer: LayerName): void => this.#context.drop(layer);

  readonly resume = (steps: readonly StepBack[]): void => this.#context.resume(steps);

  get rememberedMs(): number {
    return this.#context.rememberedMs();
  }

  readonly rolledBack = (layers: readonly RolledBack[]): void => {
    this.#rolledBack = layers;
    if (this.#place === "in-place") this.#context.troubles.rolledBack(this.#source.name, layers);
  };

  readonly incomplete = (finding: Finding): void => this.#context.troubles.incomplete(this.#source.name, finding);

  readonly ended = (): void => {
    this.#context.ended();
    this.forget();
  };

  readonly report: SourceSink["report"] = (findings, { inPart = false } = {}) => {
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
  };

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

  get #canBeJudged(): boolean {
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
      tellRefusal(findings);
      return;
    }
    // One that is tried again and again with the same errors is told once.
    if (!troubles.isTriedAgain(this.#source, findings)) tellRefusal(findings);
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

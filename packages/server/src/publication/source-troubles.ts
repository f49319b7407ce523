import { errorsIn, type Finding, XdskitError } from "@xdskit/api";
import type { SourceTrouble } from "../contracts/nodes/node-status.js";
import type { RolledBack, Source } from "../contracts/source.js";

/** Knows the sources whose newest content is not served. */
export class SourceTroubles {
  readonly #troubles = new Map<string, SourceTrouble>();
  /** Of sources that will replace another one. */
  readonly #refused = new Map<Source, { readonly trouble: SourceTrouble; readonly errors: readonly Finding[] }>();
  readonly #incomplete = new Map<string, SourceTrouble>();
  readonly #rolledBack = new Map<string, readonly SourceTrouble[]>();

  /** The findings about a source's newest content. It is served if none of them is an error; `inPart`: in part. */
  found(source: string, findings: readonly Finding[], inPart = false): void {
    const trouble = troubleOf(source, errorsIn(findings), inPart ? "partial" : "errors");
    if (trouble === undefined) this.#troubles.delete(source);
    else this.#troubles.set(source, trouble);
  }

  /** The findings about a source that will replace another one of its name, which is served until then. */
  foundInSuccessor(source: Source, findings: readonly Finding[]): void {
    const errors = errorsIn(findings);
    const trouble = troubleOf(source.name, errors);
    if (trouble === undefined) this.#refused.delete(source);
    else this.#refused.set(source, { trouble, errors });
  }

  /** Whether all these errors are told of other successors of its name: it is tried again, in vain. */
  isTriedAgain(source: Source, findings: readonly Finding[]): boolean {
    const others = [...this.#refused].filter(([other]) => other !== source && other.name === source.name);
    const reported = new Set(others.flatMap(([, { errors }]) => errors.map(({ message }) => message)));
    return errorsIn(findings).every(({ message }) => reported.has(message));
  }

  /** The layers of a source that serve an older revision; all others of it do not. */
  rolledBack(source: string, layers: readonly RolledBack[]): void {
    const reported = layers.map(({ to, time }): SourceTrouble => {
      const since = new Date(time).toISOString();
      return { source, kind: "rolled-back", message: `revision ${to} is served since ${since}, after a rollback` };
    });
    this.#rolledBack.set(source, reported);
  }

  /** From now on, a source lacks something. */
  incomplete(source: string, { message }: Finding): void {
    this.#incomplete.set(source, { source, kind: "incomplete", message });
  }

  /** Errors first, in the order in which they began. */
  all(): readonly SourceTrouble[] {
    const inPlace = [...this.#troubles.values()];
    const isReported = ({ source, message }: SourceTrouble) =>
      inPlace.some((one) => one.source === source && one.message === message);
    const refused = Array.from(this.#refused.values(), ({ trouble }) => trouble).filter((one) => !isReported(one));
    return [...inPlace, ...refused, ...this.#incomplete.values(), ...[...this.#rolledBack.values()].flat()];
  }
}

function troubleOf(
  source: string,
  [first, ...others]: readonly Finding[],
  kind: "errors" | "partial" = "errors",
): SourceTrouble | undefined {
  if (first === undefined) return undefined;
  return { source, kind, message: new XdskitError([first, ...others]).message };
}

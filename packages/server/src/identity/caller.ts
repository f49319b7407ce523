import type { Node } from "@xdskit/protocol";
import type { Evidence } from "./evidence.js";
import type { IdentityRule } from "./identity-rule.js";
import { fitsNode } from "./patterns/node-pattern.js";
import type { Captured } from "./patterns/text-pattern.js";
import { createRules, type Proof, type Rules, type RulesOptions } from "./rules.js";

/** What a caller was refused for: for the log, and for nobody else. */
export interface CallerRefused {
  readonly peer: string;
  /** The method or path that was called. */
  readonly called: string;
  /** From 0; undefined: no rule holds. */
  readonly rule: number | undefined;
  /** What was proved, or shown. */
  readonly proved: string;
  /** The node that it claimed to be; undefined: it did not come so far. */
  readonly claimed: { readonly id: string; readonly cluster: string } | undefined;
}

/** Where a call comes from. */
export type CallFrom = Pick<CallerRefused, "peer" | "called">;

/** The one answer to all who may not: it does not say why. */
export const notThisNode = "this caller may not be this node";

/** The one answer to all whom no rule knows. */
export const notKnown = "this caller may not call here";

/**
 * Who calls, as far as it was proved. Only a `Gate` makes one, and everything that serves a node asks for one: so no
 * door can be left open by mistake.
 */
class ProvenCaller {
  readonly #rule: IdentityRule | undefined;
  readonly #proof: Proof | undefined;
  readonly from: CallFrom;
  readonly #refused: (refused: CallerRefused) => void;
  /** Equal for callers that may do the same. */
  readonly key: string;

  constructor(
    rule: IdentityRule | undefined,
    proof: Proof | undefined,
    from: CallFrom,
    refused: (refused: CallerRefused) => void,
  ) {
    this.#rule = rule;
    this.#proof = proof;
    this.from = from;
    this.#refused = refused;
    const { node, groups, secrets } = rule ?? {};
    this.key = rule === undefined ? "" : JSON.stringify([node, groups, secrets, ...(proof?.captured ?? [])]);
  }

  /** Whether rules say which node it may be. */
  get isRestricted(): boolean {
    return this.#rule !== undefined;
  }

  /** The groups that it may be in; undefined: any. */
  get groups(): readonly string[] | undefined {
    return this.#rule?.groups;
  }

  get getsSecrets(): boolean {
    return this.#rule === undefined || this.#rule.secrets === true;
  }

  /** Equal for calls of the same caller; undefined: no rule tells callers apart. */
  get identity(): string | undefined {
    return this.#proof?.identity;
  }

  /**
   * Equal for those that may share what is kept of a node with an id: the same credentials or, where a rule asks for
   * none, all whom it lets be the same.
   */
  get owner(): string {
    return this.#proof?.hasCredential === true ? this.#proof.identity : this.key;
  }

  /** When what it proved ends, in milliseconds since 1970; undefined: never. */
  get endsAt(): number | undefined {
    return this.#proof?.endsAt;
  }

  /** The age at which its streams end, in milliseconds; undefined: none. */
  get maxAgeMs(): number | undefined {
    return this.#rule?.maxAgeMs;
  }

  /** Whether it may be this node. */
  mayBe({ id, cluster }: Pick<Node, "id" | "cluster">): boolean {
    if (this.#rule === undefined) return true;
    const { node = {} } = this.#rule;
    const captured: Captured = this.#proof?.captured ?? new Map();
    const fits = (pattern: string | undefined, value: string) =>
      pattern === undefined || fitsNode(pattern, captured, value);
    return fits(node.id, id) && fits(node.cluster, cluster);
  }

  /** Records that it claimed to be a node that it may not be. */
  claimed({ id, cluster }: Pick<Node, "id" | "cluster">): void {
    const { index: rule, proved = "" } = this.#proof ?? { index: undefined };
    this.#refused({ ...this.from, rule, proved, claimed: { id, cluster } });
  }
}

/** Who calls, as far as it was proved. Only a `Gate` makes one. */
export type Caller = ProvenCaller;

/** Decides who calls. */
export interface Gate {
  /** The caller; undefined: no rule holds. A promise only while a token is verified for the first time. */
  callerOf(evidence: () => Evidence, from: CallFrom): Caller | undefined | Promise<Caller | undefined>;
  /** A caller of what is open to all. It may be no node. */
  anybody(from: CallFrom): Caller;
  /** Other rules, from now on. Undefined: none, and every caller may be every node. */
  use(rules: readonly IdentityRule[] | undefined): void;
}

/** What a gate is made with. */
export interface GateOptions extends RulesOptions {
  readonly rules: readonly IdentityRule[] | undefined;
  /** Called for each caller that was refused. */
  readonly refused: (refused: CallerRefused) => void;
}

const nobody: IdentityRule = { when: {}, node: { id: "" }, groups: [] };

export function createGate({ rules, refused, ...options }: GateOptions): Gate {
  let known: readonly IdentityRule[] | undefined;
  let proving: Rules | undefined;
  function use(next: readonly IdentityRule[] | undefined): void {
    known = next;
    const whens = next?.map(({ when }) => when);
    proving = whens && createRules(whens, options);
  }
  use(rules);

  function callerOf(evidence: () => Evidence, from: CallFrom): Caller | undefined | Promise<Caller | undefined> {
    const [now, asked] = [known, proving];
    if (now === undefined || asked === undefined) return new ProvenCaller(undefined, undefined, from, refused);
    const shown = evidence();
    const decide = (proof: Proof | undefined) => {
      const rule = proof && now[proof.index];
      if (rule?.deny !== true && rule !== undefined) return new ProvenCaller(rule, proof, from, refused);
      refused({ ...from, rule: proof?.index, proved: proof?.proved ?? asked.shown(shown), claimed: undefined });
      return undefined;
    };
    const proof = asked.prove(shown);
    if (!(proof instanceof Promise)) return decide(proof);
    // The rules may have been replaced while the token was verified.
    return proof.then((proved) => (proving === asked ? decide(proved) : callerOf(evidence, from)));
  }

  return {
    callerOf,
    anybody: (from) => new ProvenCaller(known && nobody, undefined, from, refused),
    use,
  };
}

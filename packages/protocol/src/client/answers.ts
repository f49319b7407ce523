import { maxKept, type Nonce, type Version } from "@xdskit/api";

/** The answer to one response. */
export interface Answer {
  readonly response: number;
  readonly nonce: Nonce;
  /** The response's. */
  readonly version: Version;
  /** Undefined for an acknowledgement. */
  readonly error: string | undefined;
}

interface WaitingAnswer {
  readonly answer: Answer;
  isReady: boolean;
  error: string | undefined;
}

/** The answers to the responses of one type on one stream, in the order of the responses (rule 25). */
export class Answers {
  readonly #queue: WaitingAnswer[] = [];

  get size(): number {
    return this.#queue.length;
  }

  get isReady(): boolean {
    return this.#queue[0]?.isReady === true;
  }

  add(answer: Answer, isReady: boolean): void {
    this.#queue.push({ answer, isReady, error: answer.error });
    // Answers may wait for the decision on the first of them, and then for a server that does not read them. The oldest
    // response counts as acknowledged then: it holds up all later answers.
    const [oldest] = this.#queue;
    if (this.size > maxKept / 2 && oldest !== undefined) oldest.isReady = true;
  }

  /** Takes the owner's decision. False if none was awaited for this response. */
  decide(response: number, error: string | undefined): boolean {
    const waiting = this.#queue.find(({ answer }) => answer.response === response);
    if (waiting === undefined || waiting.isReady) return false;
    waiting.isReady = true;
    waiting.error = error;
    return true;
  }

  take(): Answer | undefined {
    if (!this.isReady) return undefined;
    const first = this.#queue.shift();
    return first === undefined ? undefined : { ...first.answer, error: first.error };
  }
}

/** Another server of the same store, as the API asks it. */
export interface PeerServer {
  /** For people. */
  readonly name: string;
  /**
   * Asks one of the questions that `AdminApi.answers` answers there. Rejects, with a reason for people, where it does
   * not answer in time; `timeoutMs` more than usual is for questions that wait.
   */
  ask(question: string, asked: unknown, timeoutMs?: number): Promise<unknown>;
}

/** The answers of a server to others of its store, by the name of the question. Both are JSON. */
export type PeerAnswers = Readonly<Record<string, (asked: never) => Promise<unknown>>>;

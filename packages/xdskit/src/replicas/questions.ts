/**
 * What servers of one store ask each other: by name, a function of what is asked. Both are JSON. Who runs what never
 * goes through the store: whoever wants to know asks all of them.
 */
export type Answers = Readonly<Record<string, (asked: never) => Promise<unknown>>>;

/** What one question takes. */
export type AskedOf<A extends Answers, Q extends keyof A> = Parameters<A[Q]>[0];

/** What its answer is. */
export type AnswerOf<A extends Answers, Q extends keyof A> = Awaited<ReturnType<A[Q]>>;

/** Questions and answers are sent to this path, with the name of the question behind it. */
export const askPath = "/replica/v1/";

/** The longest question, in bytes. */
export const mostAskedBytes = 4 * 1024 * 1024;

/** The longest answer, in bytes: lists come in pages. */
export const mostAnswerBytes = 64 * 1024 * 1024;

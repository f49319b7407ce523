import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { Failed, Skipped } from "../verdicts/verdicts.js";
import { type CallOptions, CallStream, unimplemented } from "./call-stream.js";

/** A method of a service that is no discovery service, and how its messages are noted. */
export interface NotedMethod<Q extends DescMessage, A extends DescMessage> {
  /** What people call the service. */
  readonly service: string;
  readonly path: string;
  readonly input: Q;
  readonly output: A;
  readonly asked: (request: MessageShape<Q>) => string;
  readonly answered: (response: MessageShape<A>) => string;
}

/** The path and the messages of a method of a service. */
export function methodOf<Q extends DescMessage, A extends DescMessage>(method: {
  readonly parent: { readonly typeName: string };
  readonly name: string;
  readonly input: Q;
  readonly output: A;
}): Pick<NotedMethod<Q, A>, "path" | "input" | "output"> {
  const { parent, name, input, output } = method;
  return { path: `/${parent.typeName}/${name}`, input, output };
}

/** A call of such a method, unary or not: on the wire these are the same. */
export class MessageStream<Q extends DescMessage, A extends DescMessage> extends CallStream {
  readonly #method: NotedMethod<Q, A>;
  readonly #untaken: MessageShape<A>[] = [];

  constructor(method: NotedMethod<Q, A>, options: Omit<CallOptions, "path">) {
    super({ ...options, path: method.path });
    this.#method = method;
  }

  protected override read(bytes: Uint8Array): void {
    const { output, service, answered } = this.#method;
    const response = fromBinary(output, bytes);
    this.#untaken.push(response);
    this.note(`< ${service} ${answered(response)}`.trimEnd());
  }

  send(init: MessageInitShape<Q>): void {
    const { input, service, asked } = this.#method;
    const request = create(input, init);
    this.note(`> ${service} ${asked(request)}`.trimEnd());
    this.write(toBinary(input, request));
  }

  /** The next response. Throws Failed if none comes, Skipped if there is no such method. */
  async next(): Promise<MessageShape<A>> {
    const response = await this.#orSkipped(() => this.untilOver(() => this.#untaken.shift()));
    if (response === undefined) throw new Failed(`no response came within ${this.bounds.answerMs} ms`);
    return response;
  }

  /** What came within the quiet time. Throws Failed if the stream is over, Skipped if there is no such method. */
  async comes(): Promise<readonly MessageShape<A>[]> {
    await this.quiet();
    await this.#orSkipped(async () => this.check());
    return this.#untaken.splice(0);
  }

  async #orSkipped<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (this.end?.code === unimplemented) throw new Skipped(`the server offers no ${this.#method.service}`);
      throw error;
    }
  }
}

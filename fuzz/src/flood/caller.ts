import { EventEmitter } from "node:events";
import { Agent, request } from "node:http";
import { type ClientHttp2Session, connect } from "node:http2";

/** An open stream of discovery, in bytes. */
export interface CallerStream {
  /** Responses so far. */
  readonly answers: number;
  /** The status with which the server ended it, or -1 if it is gone without one. */
  readonly ended: number | undefined;
  /** Emits `news` for each answer, and for the end. */
  readonly news: EventEmitter;
  /** False: so much waits to be sent that more would only cost memory here. */
  send(message: Uint8Array): boolean;
  close(): void;
}

/** A client with a token, over one connection that is made again when it ends. */
export interface Caller {
  open(method: "Stream" | "Delta"): CallerStream;
  /** Asks over REST; resolves to the status, or -1 if there was no answer. */
  poll(body: object): Promise<number>;
  close(): void;
}

/** More bytes of one stream do not wait to be sent. */
const maxWaiting = 64 * 1024;

export function createCaller(token: string, { grpc, rest }: { readonly grpc: string; readonly rest: string }): Caller {
  const authorization = `Bearer ${token}`;
  const agent = new Agent({ keepAlive: true });
  let session: ClientHttp2Session | undefined;
  const connected = () => {
    if (session === undefined || session.closed || session.destroyed)
      session = connect(`http://${grpc}`).on("error", () => {});
    return session;
  };
  return {
    open(method) {
      const news = new EventEmitter();
      const path = `/envoy.service.discovery.v3.AggregatedDiscoveryService/${method}AggregatedResources`;
      const headers = { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" };
      const call = connected().request({ ...headers, authorization });
      const made = { answers: 0, ended: undefined as number | undefined };
      const over = (status: unknown) => {
        if (made.ended !== undefined) return;
        made.ended = Number(status ?? -1);
        news.emit("news");
      };
      // A status without a message comes in the head.
      call.on("response", (head) => void (head["grpc-status"] !== undefined && over(head["grpc-status"])));
      call.on("trailers", (trailers) => over(trailers["grpc-status"]));
      call.on("data", () => {
        made.answers += 1;
        news.emit("news");
      });
      call.on("error", () => {});
      call.on("close", () => over(undefined));
      return {
        news,
        get answers() {
          return made.answers;
        },
        get ended() {
          return made.ended;
        },
        send(message) {
          if (made.ended !== undefined || call.writableLength > maxWaiting) return false;
          const framed = Buffer.alloc(5 + message.byteLength);
          framed.writeUInt32BE(message.byteLength, 1);
          framed.set(message, 5);
          call.write(framed);
          return true;
        },
        close: () => call.destroy(),
      };
    },
    poll: (body) =>
      new Promise((resolve) => {
        const headers = { authorization, "content-type": "application/json" };
        request(`http://${rest}/v3/discovery:clusters`, { agent, method: "POST", headers }, (answer) => {
          answer.resume().on("close", () => resolve(answer.statusCode ?? -1));
        })
          .on("error", () => resolve(-1))
          .end(JSON.stringify(body));
      }),
    close() {
      agent.destroy();
      session?.destroy();
    },
  };
}

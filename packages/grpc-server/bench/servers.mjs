// The cost for a server of a message to a thousand streams and its answer: with this package, with node:http2, and with
// grpc-js.
//   npm run build && node packages/grpc-server/bench/servers.mjs [STREAMS [ROUNDS]]
// Another process serves; this one plays the clients with frames that are made once. Prints the CPU time of the server.
import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer as createHttp2 } from "node:http2";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { createGrpcServer } from "@xdskit/grpc-server";

const path = "/bench.Bench/Push";
const body = Buffer.alloc(1_000, "x");
const framed = Buffer.concat([Buffer.from([0, 0, 0, body.length >> 8, body.length & 255]), body]);
const answer = Buffer.alloc(50, "y");

/**
 * Servers: each calls `opened` with a function that pushes to a new stream, and `answered` for each message from it.
 */
const servers = {
  async "grpc-server"(opened, answered) {
    const accept = (call) => {
      opened(() => call.send(body));
      return { received: answered, drained() {}, finished() {}, closed() {} };
    };
    const server = createGrpcServer({ methods: new Map([[path, { unary: false, accept }]]) });
    return await server.listen({ host: "127.0.0.1", port: 0 });
  },
  async "node:http2"(opened, answered) {
    const server = createHttp2();
    server.on("stream", (stream) => {
      stream.respond({ ":status": 200, "content-type": "application/grpc" });
      stream.on("data", answered);
      stream.on("error", () => {});
      opened(() => stream.write(framed));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return server.address().port;
  },
  async "grpc-js"(opened, answered) {
    const { Server, ServerCredentials } = await import("@grpc/grpc-js");
    const server = new Server();
    const pass = (bytes) => bytes;
    const method = {
      path,
      requestStream: true,
      responseStream: true,
      requestSerialize: pass,
      requestDeserialize: pass,
    };
    server.addService(
      { Push: { ...method, responseSerialize: pass, responseDeserialize: pass } },
      {
        Push(call) {
          call.on("data", answered);
          call.on("error", () => {});
          opened(() => call.write(body));
        },
      },
    );
    return await new Promise((resolve) =>
      server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (_error, port) => resolve(port)),
    );
  },
};

async function serve(name, streams, rounds) {
  const pushes = [];
  let answers = 0;
  let round = 0;
  let before;
  const warm = Math.ceil(rounds / 4);
  const push = () => {
    if (round === warm) before = process.cpuUsage();
    if (round === warm + rounds) {
      const { user, system } = process.cpuUsage(before);
      process.send({ us: (user + system) / (rounds * streams), rss: process.memoryUsage.rss() });
      return;
    }
    round += 1;
    for (const one of pushes) one();
  };
  const port = await servers[name](
    (one) => void pushes.push(one),
    () => {
      answers += 1;
      // The first message of each stream opens it.
      if (answers % streams === 0) setImmediate(push);
    },
  );
  process.send({ port });
}

const frame = (type, flags, stream, payload) => {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
};
const uint32 = (value) => Buffer.from([value >>> 24, value >>> 16, value >>> 8, value]);
const literal = (name, value) =>
  Buffer.concat([Buffer.from([0, name.length]), Buffer.from(name), Buffer.from([value.length]), Buffer.from(value)]);
const headers = Buffer.concat([
  ...[
    [":method", "POST"],
    [":scheme", "http"],
    [":path", path],
    [":authority", "bench"],
  ].map((field) => literal(...field)),
  literal("content-type", "application/grpc"),
  literal("te", "trailers"),
]);
const largest = uint32(2 ** 31 - 1);
const message = frame(0, 0, 1, Buffer.concat([Buffer.from([0, 0, 0, 0, answer.length]), answer]));
const opening = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  // All windows have their largest size: nobody waits for room.
  frame(4, 0, 0, Buffer.concat([Buffer.from([0, 4]), largest])),
  frame(8, 0, 0, uint32(2 ** 31 - 1 - 65_535)),
  frame(1, 4, 1, headers),
  message,
]);

/** One client: answers each message of the server. It counts bytes of DATA, and needs to understand no more. */
function client(port) {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  let rest = Buffer.alloc(0);
  let data = 0;
  socket.on("error", () => {});
  socket.on("data", (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length >= 9) {
      const length = rest.readUIntBE(0, 3);
      if (rest.length < 9 + length) break;
      const [type, flags] = [rest[3], rest[4]];
      if (type === 0) data += length;
      if (type === 4 && (flags & 1) === 0) socket.write(frame(4, 1, 0, Buffer.alloc(0)));
      if (type === 6 && (flags & 1) === 0) socket.write(frame(6, 1, 0, rest.subarray(9, 17)));
      rest = rest.subarray(9 + length);
    }
    for (; data >= framed.length; data -= framed.length) socket.write(message);
  });
  socket.write(opening);
  return socket;
}

async function measure(name, streams, rounds) {
  const server = fork(fileURLToPath(import.meta.url), ["--serve", name, String(streams), String(rounds)]);
  const [{ port }] = await once(server, "message");
  const sockets = [];
  const result = once(server, "message");
  for (let index = 0; index < streams; index += 1) {
    sockets.push(client(port));
    // The server accepts no more at once.
    if (index % 100 === 99) await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const [{ us, rss }] = await result;
  for (const socket of sockets) socket.destroy();
  server.kill();
  return { us, rss };
}

const [first, ...others] = process.argv.slice(2);
if (first === "--serve") await serve(others[0], Number(others[1]), Number(others[2]));
else {
  const streams = Number(first ?? 1_000);
  const rounds = Number(others[0] ?? 40);
  const times = new Map(Object.keys(servers).map((name) => [name, []]));
  for (let repeat = 0; repeat < 5; repeat += 1) {
    for (const [name, each] of times) each.push(await measure(name, streams, rounds));
  }
  const median = (values) => values.sort((one, two) => one - two)[values.length >> 1];
  for (const [name, each] of times) {
    const us = median(each.map((one) => one.us)).toFixed(1);
    console.log(
      `${name}: ${us} us CPU a message and its answer, ${Math.round(median(each.map((one) => one.rss)) / 1e6)} MB`,
    );
  }
}

import { connect } from "node:http2";

// A program: floods a server with unary calls and says how they ended. Arguments: the server's URL, the path, the
// request in base64, connections, calls on each.
const [url = "", path = "", request = "", connections = "1", calls = "1"] = process.argv.slice(2);
const message = Buffer.from(request, "base64");
const framed = Buffer.alloc(5 + message.length);
framed.writeUInt32BE(message.length, 1);
message.copy(framed, 5);

/** How many calls ended with each status. */
const codes: Record<string, number> = {};
let left = Number(connections) * Number(calls);

function ended(code: string): void {
  codes[code] = (codes[code] ?? 0) + 1;
  left -= 1;
  if (left > 0) return;
  console.log(JSON.stringify({ codes }));
  process.exit();
}

for (let index = 0; index < Number(connections); index++) {
  const session = connect(url, { peerMaxConcurrentStreams: 100_000 });
  session.on("error", () => {});
  session.once("remoteSettings", () => {
    for (let call = 0; call < Number(calls); call++) {
      const stream = session.request({
        ":method": "POST",
        ":path": path,
        te: "trailers",
        "content-type": "application/grpc",
      });
      let code = "none";
      const note = (headers: { readonly [name: string]: unknown }) => {
        if (headers["grpc-status"] !== undefined) code = String(headers["grpc-status"]);
      };
      stream.on("response", note);
      stream.on("trailers", note);
      stream.on("error", () => {});
      stream.on("close", () => ended(code));
      stream.resume();
      stream.end(framed);
    }
  });
}

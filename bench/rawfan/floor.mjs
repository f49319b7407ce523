// The floor for Node: rawfan's server on plain node:net sockets. Run it by: rawfan -mode node (see server.go for the
// protocol).
import { createServer } from "node:net";
import { createInterface } from "node:readline";

const [streams, size, echo] = process.argv.slice(2).map(Number);
const content = Buffer.alloc(size);
const sockets = [];
let waiting = 0;

function receive(socket) {
  let answered = 0;
  socket.on("data", (chunk) => {
    answered += chunk.length;
    if (answered === echo) {
      answered = 0;
      if (--waiting === 0) console.log(begin.toString());
    }
  });
}

let begin = 0n;
const server = createServer({ noDelay: true }, (socket) => {
  receive(socket);
  socket.on("error", () => {});
  if (sockets.push(socket) === streams) console.log("accepted");
});
server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () => console.log(`127.0.0.1:${server.address().port}`));

createInterface({ input: process.stdin })
  .on("line", () => {
    waiting = streams;
    begin = BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n;
    for (const socket of sockets) socket.write(content);
  })
  .on("close", () => process.exit());

// Two services to send requests to: "one" on port 10001, "two" on port 10002. Ctrl-C stops both.
// Other ports: node services.mjs PORT_OF_ONE PORT_OF_TWO (0 picks a free one).
import { createServer } from "node:http";

const ports = process.argv.slice(2).map(Number);
for (const [index, name] of ["one", "two"].entries()) {
  const server = createServer((request, response) => {
    response.setHeader("content-type", "text/plain");
    response.end(`hello from ${name}: ${request.method} ${request.url}\n`);
  });
  server.on("error", (error) => {
    console.error(`service ${name}: ${error.message}`);
    process.exit(1);
  });
  server.listen(ports[index] ?? 10001 + index, "127.0.0.1", () => {
    console.log(`service ${name} on http://127.0.0.1:${server.address().port}`);
  });
}

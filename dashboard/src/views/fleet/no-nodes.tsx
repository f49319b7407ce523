import { usePorts } from "../../api/use-ports.js";
import { overGrpc } from "../../parts/acting/commands.js";
import { Empty } from "../../parts/message.js";

/** Nobody is connected yet. */
export function NoNodes() {
  const bootstrap = overGrpc(usePorts(), "bootstrap", "--node-id", "my-envoy", "--node-cluster", "edge");
  return (
    <>
      <h1>Fleet</h1>
      <Empty title="No node is connected yet.">
        <p>Give a client this server's address. For an Envoy:</p>
        <pre class="command">
          {bootstrap} &gt; envoy.yaml{"\n"}envoy -c envoy.yaml
        </pre>
        <p>It appears here when its stream is open.</p>
      </Empty>
    </>
  );
}

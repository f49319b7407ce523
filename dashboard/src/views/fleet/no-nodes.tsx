import { Empty } from "../../parts/message.js";

/** Nobody is connected yet. */
export function NoNodes() {
  return (
    <>
      <h1>Fleet</h1>
      <Empty title="No node is connected yet.">
        <p>Give a client this server's address. For an Envoy:</p>
        <pre class="command">
          xdskit bootstrap --node-id my-envoy --node-cluster edge &gt; envoy.yaml{"\n"}envoy -c envoy.yaml
        </pre>
        <p>It appears here when its stream is open.</p>
      </Empty>
    </>
  );
}

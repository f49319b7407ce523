import { openEtcdStore } from "@xdskit/store-etcd";

/** A process of its own: holds a shared value with a session, and says when it is lost. `PREFIX TTL ENDPOINT…` */
const [prefix = "", ttl = "", ...endpoints] = process.argv.slice(2);
const store = await openEtcdStore({ endpoints, prefix });
const lost = () => void process.stdout.write("lost\n");
const session = await store.shared.session({ ttlMs: Number(ttl), lost });
await store.shared.put({ key: "leader", value: "holder", expected: undefined, session });
process.stdout.write("held\n");
// It ends when the test ends it.
setInterval(() => {}, 1_000);

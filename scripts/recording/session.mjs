/** What is typed, one after the other, and what must be seen before the next. */
export const session = [
  { type: "npx xdskit init", says: /\$ $/ },
  { type: "npx xdskit serve &", says: /\nready\r\n/ },
  { type: "npx xdskit bootstrap > envoy.yaml", says: /\$ $/ },
  { type: "envoy -c envoy.yaml -l error &", says: /clients came or went/ },
  { type: "curl http://127.0.0.1:10000/hello", says: /\nhello from Envoy\r\n/ },
  { type: "sed -i 's/hello from Envoy/hello again/' config/routes.yaml", says: /configuration applied/ },
  { type: "curl http://127.0.0.1:10000/hello", says: /\nhello again\r\n/ },
  { type: "sed -i 's/prefix: /prefiks: /' config/routes.yaml    # a mistake", says: /change refused[^\n]*\n/ },
  { type: "curl http://127.0.0.1:10000/hello                    # what was good stays", says: /\nhello again\r\n/ },
  { type: "npx xdskit status --all", says: /\nnode-1 / },
];

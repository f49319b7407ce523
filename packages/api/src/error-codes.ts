/** What an error code means for people. The documentation page of errors is made from this registry. */
export interface ErrorCode {
  /** What happened, in one sentence. */
  readonly meaning: string;
  /** The usual cause. */
  readonly cause: string;
  /** What to do about it. */
  readonly mend: string;
}

/** Every error that xdskit raises, logs or answers with. */
export const errorCodes = {
  XDSKIT_FILE_UNREADABLE: {
    meaning: "A configuration file or folder could not be read.",
    cause:
      "It does not exist, its permissions forbid it, it is larger than the limit, or a symbolic link leads in a circle.",
    mend: "Look at the path and the reason in the message; the last good configuration stays until it can be read.",
  },
  XDSKIT_SYNTAX: {
    meaning: "A file is not well-formed YAML, JSON, text format or protobuf.",
    cause: "A typing error, or a file that was cut off while it was written.",
    mend: "Mend the line that the message names. Write files under another name and rename them into place.",
  },
  XDSKIT_SETTINGS_INVALID: {
    meaning: "The settings file (xdskit.yaml) has an unknown key or a wrong value.",
    cause: "A typing error, a setting of a newer version, or a resource file that was named xdskit.yaml.",
    mend: "Correct the line that the message names; docs/settings.md lists every setting.",
  },
  XDSKIT_ADDRESS_IN_USE: {
    meaning: "The port of an address to listen on is taken.",
    cause: "Another program listens there already, often another xdskit.",
    mend: "Stop the other program, or choose another address with --grpc, --rest or --admin. Port 0 picks a free one.",
  },
  XDSKIT_ADDRESS_UNAVAILABLE: {
    meaning: "An address to listen on cannot be used, for another reason than that it is taken.",
    cause: "The host is not one of this machine's, its name cannot be resolved, or the port needs more rights.",
    mend: "Choose another address with --grpc, --rest or --admin: 0.0.0.0 or [::] for all interfaces, a port above 1023.",
  },
  XDSKIT_DANGLING_REFERENCE: {
    meaning: "A resource names another one that does not exist in its group.",
    cause: "A typing error in a name, or a file that is missing. A route to a cluster that is not there answers 503.",
    mend: "Correct the name or add the resource. If another server provides it, ignore the warning.",
  },
  XDSKIT_DUPLICATE_RESOURCE: {
    meaning: "Two resources of one type have the same name within one layer.",
    cause: "A file was copied and not edited, or an old file still lies beside the new one.",
    mend: "Rename or delete one of the two; the message names both places. To override on purpose, put them into two folders of a group.",
  },
  XDSKIT_ENVOY_TOO_OLD: {
    meaning:
      "A resource has something that is new in a later version of Envoy than the one that is asked about, or that connected.",
    cause:
      "The resource was written for a newer Envoy. An Envoy ignores fields that it does not know, and rejects extensions that it does not have.",
    mend: "Upgrade these Envoys, leave out what is new, or serve it to a group of newer ones only.",
  },
  XDSKIT_EXTENSION_MISSING: {
    meaning: "A resource configures an extension that Envoy, as it is shipped, does not have.",
    cause:
      "The extension is part of Envoy's contrib build, is known to other proxies only, or the type is no configuration of an extension.",
    mend: "Run an Envoy that has the extension, such as the contrib image, and ignore the warning; or choose another type.",
  },
  XDSKIT_FOLDER_MISSING: {
    meaning: "The configuration folder, or a folder of one of its groups, is not there.",
    cause: "A typing error in the path, a volume that is not mounted, or a symbolic link that leads nowhere.",
    mend: "Create the folder, or correct the path. It is picked up as soon as it is there; the last good configuration stays until then.",
  },
  XDSKIT_GROUP_FOLDERS: {
    meaning: "None of the folders of a group is there.",
    cause:
      "A typing error in `folders` of the group, or a folder that is empty and that git did not keep. The clients of the group would lose all that they have.",
    mend: "Correct the name, or create the folder with a file in it, if only one that holds `[]`. With --allow-empty the server starts all the same.",
  },
  XDSKIT_NO_VALID_FILE: {
    meaning: "The configuration folder holds no file that could be served.",
    cause:
      "It is empty, its files have other extensions than .yaml, .yml, .json, .pb, .pb_text and .textproto, or every one of them has an error.",
    mend: "Correct the files that the messages name, or start with --allow-empty to pick files up when they come.",
  },
  XDSKIT_FILE_EMPTIED: {
    meaning: "A file that held resources has no bytes any more.",
    cause: "It is being written in place, or the program that writes it failed half-way.",
    mend: "Delete the file, or leave `[]` in it, if its resources are to go. Write files under another name and rename them into place.",
  },
  XDSKIT_FOLDER_LIMIT: {
    meaning: "The configuration folder has more files, or deeper folders, than the limit.",
    cause: "The wrong folder was given, or a symbolic link leads out of it into a large tree.",
    mend: "Look at the path in the message; raise the limit if the folder really is so large.",
  },
  XDSKIT_FOLDER_UNSETTLED: {
    meaning: "The configuration folder was replaced again each time while it was read.",
    cause: "A symbolic link is swapped faster than the files behind it can be read.",
    mend: "Swap less often. It is read again by itself; the last good configuration stays until then.",
  },
  XDSKIT_FOLDER_OPTION: {
    meaning: "An option of the folder source has a value that it cannot take.",
    cause: "A folder of a group that is absolute or leads out of the configuration folder, or a time that is negative.",
    mend: "Name folders relative to the configuration folder, without `..`.",
  },
  XDSKIT_SERVER_OPTION: {
    meaning: "An option of `createServer` has a value that it cannot take.",
    cause: "A time that is negative or no number, a limit of 0, or a word that is none of those that the option knows.",
    mend: "Correct the option that the message names; times are milliseconds.",
  },
  XDSKIT_CHANGE_REFUSED: {
    meaning: "The server did not take a change that a source brought.",
    cause: "The server is closing, or the change fits no group.",
    mend: "Look at the reason in the message. The last good configuration stays, and the change is tried again with the next one.",
  },
  XDSKIT_WATCH_UNAVAILABLE: {
    meaning: "The operating system refused to watch a folder for changes.",
    cause:
      "The limit of watches is used up (on Linux fs.inotify.max_user_watches or max_user_instances), or the file system cannot be watched.",
    mend: "Raise the limit. Until then changes are found by looking at the files every few seconds.",
  },
  XDSKIT_GROUP_INVALID: {
    meaning: "The settings of a group of nodes are wrong.",
    cause: "A key to match by that does not exist, a name that is used twice, or a group without layers or folders.",
    mend: "Match by id, cluster, locality.region, locality.zone, locality.sub_zone or metadata.<path>, and name at least one folder.",
  },
  XDSKIT_TYPE_NAME_UNKNOWN: {
    meaning: "A type of resources was named that does not exist.",
    cause: "A typing error, or a type of one's own that the server was not given.",
    mend: "Use a name such as cluster, an abbreviation such as cds, or a type URL.",
  },
  XDSKIT_ADDRESS_INVALID: {
    meaning: "An address to listen on is not of the form HOST:PORT.",
    cause: "The port is missing or above 65535, or an IPv6 address stands without brackets.",
    mend: "Write 127.0.0.1:18000, [::1]:18000, or 0.0.0.0:18000 for all interfaces. Port 0 picks a free one.",
  },
  XDSKIT_SERVER_CLOSED: {
    meaning: "A server was used after it was closed.",
    cause: "listen or addSource was called after close.",
    mend: "Create another server.",
  },
  XDSKIT_DESCRIPTOR_SET: {
    meaning: "A descriptor set of the user's own messages cannot be used.",
    cause:
      "The file is no serialized google.protobuf.FileDescriptorSet, it lacks a file that one of its files imports, or one of its files does not have what a built-in one needs of it, in whose place it comes.",
    mend: "Make it with `buf build -o set.binpb`, or `protoc --include_imports --descriptor_set_out=set.binpb`; leave out files of Envoy's that do not fit the others.",
  },
  XDSKIT_TYPE_DEFINITION: {
    meaning: "A program, or `types` in the settings, defined a type of resources that the table of types cannot take.",
    cause:
      "There is no such message, its name or its message is in the table already, the field that should hold its name does not exist, or it is to come after a type that there is not.",
    mend: "Give each type a name of its own, the names of fields as the proto spells them, and the descriptor set that has the message.",
  },
  XDSKIT_TYPE_UNKNOWN: {
    meaning: "A message was given as a resource, but messages of its type are no resources of xDS.",
    cause:
      "A part of a resource stands where a resource should (a route where a route configuration should), or the type URL has a typing error.",
    mend: "Give one of the resource types: Listener, RouteConfiguration, Cluster, ClusterLoadAssignment, Secret …",
  },
  XDSKIT_NAME_MISSING: {
    meaning: "A resource has no name.",
    cause:
      "Its field `name` (`cluster_name` of a ClusterLoadAssignment) is empty, or messages of its type carry no name (LbEndpoint).",
    mend: "Fill in the field, or wrap the resource in an envoy.service.discovery.v3.Resource with a `name`.",
  },
  XDSKIT_NAME_DIFFERS: {
    meaning: "A resource has another name in its message than in the envoy.service.discovery.v3.Resource around it.",
    cause:
      "One of the two was renamed alone, or a virtual host of VHDS is called by its own name and not `<route configuration>/<virtual host>`.",
    mend: "Write the same name into both: Envoy cannot remove a virtual host that is called otherwise, and does not take a route configuration or secret that is.",
  },
  XDSKIT_AUTHORITY: {
    meaning: "A resource has a name of federation of an authority that the server does not serve.",
    cause: "The setting `authorities` lacks what stands behind `xdstp://` in the name.",
    mend: "Add the authority to the setting, or rename the resource; `xdstp:///…`, without one, is served by every server.",
  },
  XDSKIT_CONSTRAINTS: {
    meaning: "The envoy.service.discovery.v3.Resource around a resource does not say for which clients the variant is.",
    cause:
      "Its dynamic_parameter_constraints are empty, a constraint has neither `value` nor `exists`, they are nested too deep, or both `name` and `resource_name` are set.",
    mend: "Say `resource_name: { name, dynamic_parameter_constraints: { constraint: { key, value } } }`, without `name` beside it.",
  },
  XDSKIT_NAME_XDSTP: {
    meaning:
      "A resource's name begins with `xdstp:` and is no name of federation that a resource of its type can have.",
    cause:
      "It is not of the form `xdstp://authority/type/name?key=value`, says another type than the resource is of, or is a locator: a glob (`/*`) or one with directives (`#`).",
    mend: "Write the full name of the resource's own message into it (`envoy.config.cluster.v3.Cluster`), or use a name of the old style.",
  },
  XDSKIT_TTL: {
    meaning: "A time to live is not a positive time.",
    cause: "A `ttl` of zero or less.",
    mend: "Give a time above zero, or leave it out for resources that do not expire.",
  },
  XDSKIT_LOAD_REPORTS_INVALID: {
    meaning: "What clients are to report of their load makes no sense.",
    cause: "An interval that is too short or too long, or an empty list of clusters.",
    mend: 'Give an interval of at least 100 ms, and names of clusters; leave `clusters` out, or say "all", for all of them.',
  },
  XDSKIT_MESSAGE_INVALID: {
    meaning: "A message cannot be written as protobuf.",
    cause:
      "A program put a value into a field that its type cannot hold: a fraction into an integer, a string into a message.",
    mend: "Look at the field in the message; make messages with `create` of @bufbuild/protobuf, which the compiler checks.",
  },
  XDSKIT_FILE_FORM: {
    meaning: "A file is well-formed but does not hold resources in a form that is known.",
    cause: "It is something else than resource configuration, such as a list of names.",
    mend: 'A file holds a resource with "@type", a list of them, YAML documents of them, or a DiscoveryResponse (`resources: [...]`); or a bootstrap or dump (docs/adopt.md).',
  },
  XDSKIT_TYPE_MISSING: {
    meaning: 'A resource or an extension lacks "@type", so that nothing says what its fields mean.',
    cause: "The line was forgotten, or stands at another level of the file.",
    mend: 'Add it, such as "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster.',
  },
  XDSKIT_TYPE_MISMATCH: {
    meaning: "A DiscoveryResponse says in type_url that it holds one type and holds another.",
    cause: "Files of several types were joined.",
    mend: "Remove type_url: every resource says its type itself.",
  },
  XDSKIT_FIELD_UNKNOWN: {
    meaning: "A message has no field of that name.",
    cause: "A typing error, a wrong level of indentation, or a field that the API of today does not have any more.",
    mend: "Use the name that the message suggests, or look at the message in Envoy's API reference.",
  },
  XDSKIT_FIELD_INVALID: {
    meaning: "A field's value is not of the kind that the field takes.",
    cause: "A list where a mapping belongs, a number where a string belongs, two fields of which only one may be set …",
    mend: "Write what the message says is expected. Strings that look like numbers or booleans need quotes.",
  },
  XDSKIT_RULE_BROKEN: {
    meaning: "A field breaks a validation rule of its proto file (`validate.rules`): Envoy would reject the resource.",
    cause: "A required field is missing, or a value is out of its range.",
    mend: "Change the field so that it keeps the rule that is named behind the message.",
  },
  XDSKIT_NOTHING_TAKEN: {
    meaning: "A file is a bootstrap, a config dump or the like, and holds no resource that can be served.",
    cause:
      "The bootstrap has no static_resources, the dump was made of another part of the configuration, or all secrets in it are hidden.",
    mend: "Take the file out of the folder, or make the dump again with what is missing: docs/adopt.md.",
  },
  XDSKIT_DUMPED_STATE: {
    meaning: "A dump holds the state of the moment in which it was made, in the place of a setting.",
    cause: "Envoy writes endpoints that failed their health checks as UNHEALTHY.",
    mend: "Make the dump again while all endpoints are well, or change the field in the file.",
  },
  XDSKIT_SECRET_LEFT_OUT: {
    meaning: "A field holds `[redacted]` in the place of a secret.",
    cause:
      "The file was printed by `xdskit get`, by Envoy's admin or by another program that leaves secrets out. Clients would use the word itself as the key or the password.",
    mend: "Write the secret there, or print the resource again by `xdskit get --show-secrets`.",
  },
  XDSKIT_NOT_IN_JSON: {
    meaning: "A resource holds something for which JSON has no form.",
    cause:
      "A field, or the type of an `Any`, that xdskit does not know, and JSON says everything by its name. Over gRPC, in binary files and between xdskits it passes through unchanged.",
    mend: "Let Envoys that need it ask over gRPC or read binary files (--to-files-format pb), or give the descriptor set of your types by --descriptors. docs/serve.md says what such JSON looks like.",
  },
  XDSKIT_REGEX_INVALID: {
    meaning: "A regular expression is not one of RE2, the syntax that Envoy and gRPC read.",
    cause:
      "An unbalanced parenthesis, something that RE2 does not have (look-ahead, look-behind, back references), or repetitions beyond what it has room for.",
    mend: "Rewrite it in RE2's syntax. gRPC clients end at such an expression, so it is never served.",
  },
  XDSKIT_REGEX_LARGE: {
    meaning: "A regular expression is valid but larger than Envoy takes by default.",
    cause: "Large counted repetitions such as [a-z]{1,200}, or long lists of alternatives.",
    mend: "Make it smaller, or raise re2.max_program_size.error_level in Envoy's runtime. gRPC has no such limit.",
  },
  XDSKIT_CLIENTS_REFUSE: {
    meaning: "A resource keeps every rule of its proto file, and Envoy refuses it nevertheless.",
    cause:
      "Parts of it do not fit together: a host name where nobody resolves it, filter chains that match the same connections, a cluster of type EDS without the place to ask, a domain twice. It is an error where every Envoy refuses it, and a warning where gRPC's clients read the same field and take it.",
    mend: "Change what the message names. docs/validate.md lists what is looked at.",
  },
  XDSKIT_ON_DEMAND_FAILED: {
    meaning: "The supplier of resources on demand failed to say whether a name exists.",
    cause: "It threw, rejected, or took longer than the limit.",
    mend: "Mend what the message says. It is asked again by itself, less and less often; clients that wait are told after a while that there is none.",
  },
  XDSKIT_ON_DEMAND_UNSUITABLE: {
    meaning: "What was supplied on demand is not what was asked for.",
    cause:
      "It has another type, it has the name neither as its own nor as an alias, or a layer has another resource of its name.",
    mend: "Give the resource the name that was asked for, or make it with `createResource` and that name among its aliases.",
  },
  XDSKIT_ON_DEMAND_BUSY: {
    meaning: "More names are asked for than may be looked for, or than may wait to be supplied.",
    cause: "The supplier is slow, or a client asks for very many names that no layer has.",
    mend: "Make the supplier faster, raise `concurrency`, `queue` or `names`, or find the client. Names that wait are tried again by themselves, names beyond `names` when a client asks again.",
  },
  XDSKIT_CONFIG_UNRESOLVED: {
    meaning: "What a listener leads to was received, and cannot be resolved to routes, clusters and endpoints.",
    cause:
      "No virtual host serves the authority, aggregate clusters lead in a circle or too deep, or routes or endpoints do not come over xDS.",
    mend: "Change the resource that the message names, or the authority that was asked for.",
  },
  XDSKIT_CACHE: {
    meaning: "The cache of a relay on disk cannot be used, or a part of it cannot be read.",
    cause:
      "Its permissions forbid it, the path is no folder, or a file is damaged, was written by something else, or by a newer xdskit.",
    mend: "Name a folder of the relay's own. A file that cannot be used is set aside under the name in the message; the origin sends again what was in it.",
  },
  XDSKIT_TO_FILES: {
    meaning: "What is served cannot be written to the folder of --to-files.",
    cause:
      "The folder holds files of somebody else or is in one that is served, its permissions forbid it, or the group to be written is not named or not there.",
    mend: "Name an empty folder outside of what is served, or one that xdskit wrote before; name the group by --to-files-group.",
  },
  XDSKIT_BOOTSTRAP: {
    meaning: "A bootstrap, gRPC's or Envoy's, does not say what a client needs, or says what it cannot do.",
    cause:
      "A field is missing or of the wrong kind, a cluster that is named is not in static_resources, or it asks for credentials that are not supported (google_default, SDS).",
    mend: "Correct the field that the message names. `xdskit bootstrap` prints bootstraps to start from.",
  },
  XDSKIT_CREDENTIALS: {
    meaning: "What a client is to show or to check of a management server cannot be used as it is set.",
    cause:
      "A certificate is named without its key, or by its content in the place of its path, a token would be sent in plaintext to another machine, TLS is set for an http:// URL, or a header has a name or value that none may have.",
    mend: "Correct the setting that the message names.",
  },
  XDSKIT_CREDENTIALS_FILE: {
    meaning: "A file with a certificate, a private key or a token cannot be used.",
    cause:
      "It does not exist, its permissions forbid it, it is not in PEM form, the key needs a password, or certificate and key do not belong together.",
    mend: "Mend the file that the message names. It is read again with a client's next attempt, by a server within seconds; certificates that were good before stay in use.",
  },
  XDSKIT_TLS_HANDSHAKE: {
    meaning: "No TLS connection to a management server could be made.",
    cause:
      "The server's certificate is signed by somebody who is not trusted or is for another name, the server wants a certificate of the client, or it speaks no TLS.",
    mend: "Set the authority's certificate (`caFile`), the name in the certificate (`serverName`), or the client's own (`certificateFile`, `keyFile`). It is tried again by itself.",
  },
  XDSKIT_CLIENT_OPTION: {
    meaning:
      "An option of `createClient`, or an argument of one of the client's methods, has a value that it cannot take.",
    cause: "A server that is no address, a time that is negative, or a collection where a single name is needed.",
    mend: "Correct what the message names; times are milliseconds.",
  },
  XDSKIT_CLIENT_CLOSED: {
    meaning: "A client was used after it was closed.",
    cause: "watch or get was called after close, or close came while get was waiting.",
    mend: "Create another client.",
  },
  XDSKIT_CLIENT_TIMEOUT: {
    meaning: "A resource did not come within the time that was given for it.",
    cause:
      "The server is slow or does not know the name yet, or the time is shorter than the 15 s after which a name does not exist.",
    mend: "Look at what the server has, or wait longer.",
  },
  XDSKIT_UPSTREAM_AWAY: {
    meaning: "A management server does not answer.",
    cause:
      "It is not running, its address is wrong, something between refuses the connection, or it ends streams at once.",
    mend: "Look at the address and the reason in the message. It is tried again by itself, less and less often; what came before stays in use.",
  },
  XDSKIT_UPSTREAM_NONE: {
    meaning: "A client has no server to ask for a name.",
    cause: "The name is of an authority that is not configured, and there are no servers for all others.",
    mend: "Add the authority, or servers, to the client's options or bootstrap.",
  },
  XDSKIT_RESOURCE_ABSENT: {
    meaning: "A resource that was asked for does not exist, or exists no more.",
    cause: "A typing error in the name, a server that serves this node something else, or it was removed.",
    mend: "Look at what the server serves to this node. Whoever watches it hears when it comes.",
  },
  XDSKIT_RESOURCE_FAILING: {
    meaning: "The management server says that it cannot give a resource now.",
    cause: "Something behind the server is away; the message is the server's own.",
    mend: "Look at the server. What came before stays in use.",
  },
  XDSKIT_UPDATE_REJECTED: {
    meaning: "The client rejected what the management server sent, and told it so.",
    cause:
      "A resource breaks a validation rule of its proto file or a check of the program, or the response breaks the protocol.",
    mend: "Correct what the message names at the server. What came before stays in use.",
  },
  XDSKIT_CHECK_FAILED: {
    meaning: "A resource fails a check of the program's own.",
    cause: "The message is the check's; if the check threw, it is what it threw.",
    mend: "Correct the resource at the server, or the check.",
  },
  XDSKIT_CLIENT_LIMIT: {
    meaning: "What a management server or a file gives goes beyond a limit of the client.",
    cause: "More bytes in one response, or more resources of one type, than `limits` allows.",
    mend: "Raise the limit that the message names, or ask for fewer names. What was there before stays in use.",
  },
  XDSKIT_POLL_FAILED: {
    meaning: "A poll of a REST server brought no answer that could be used.",
    cause:
      "The server cannot be reached, does not answer in time, answers with another status than 200 and 304, or with something that is no DiscoveryResponse in JSON.",
    mend: "Look at the status and at what the server says in the message. What was there before stays in use; it is polled again by itself.",
  },
  XDSKIT_POLL_UNSUPPORTED: {
    meaning: "A type of resources was asked for that does not exist over REST.",
    cause:
      "VHDS and LEDS are incremental only, a list collection is asked for on ADS only, and some types are not in v2.",
    mend: 'Ask for it over gRPC (`variant: "delta"`).',
  },
} as const satisfies Record<string, ErrorCode>;

/** The code of an error or a finding, which docs/errors.md explains. */
export type XdskitErrorCode = keyof typeof errorCodes;

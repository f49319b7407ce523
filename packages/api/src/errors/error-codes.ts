/** The meaning of an error code. The errors page of the documentation is made from this registry. */
export interface ErrorCode {
  /** One sentence that says what happened. */
  readonly meaning: string;
  /** The usual cause. */
  readonly cause: string;
  /** The fix, as an instruction to the user. */
  readonly fix: string;
}

/** Every error that xdskit throws, logs or answers with. */
export const errorCodes = {
  XDSKIT_FILE_UNREADABLE: {
    meaning: "A configuration file or folder could not be read.",
    cause:
      "It does not exist, its permissions forbid it, it is larger than the limit, it needs more memory than there is, or symbolic links form a loop.",
    fix: "Check the path and the reason in the message. The last good configuration stays in use until the path can be read. A file that needed too much memory is read again once it is written or touched.",
  },
  XDSKIT_SYNTAX: {
    meaning: "A file is not well-formed YAML, JSON, text format or protobuf, or has more in it than is read.",
    cause: "A typo, a file that was cut off while it was written, or millions of values or thousands of errors.",
    fix: "Fix the line that the message names. Write files under another name and rename them into place. Split a file that is too much.",
  },
  XDSKIT_SETTINGS_INVALID: {
    meaning: "The settings file (xdskit.yaml) has an unknown key or a wrong value.",
    cause: "A typo, a setting from a newer version, or a resource file that is named xdskit.yaml.",
    fix: "Correct the line that the message names. docs/settings.md lists every setting.",
  },
  XDSKIT_ADDRESS_IN_USE: {
    meaning: "The port of a listening address is already in use.",
    cause: "Another program listens there, often another xdskit.",
    fix: "Stop the other program, or choose another address with --grpc, --rest or --admin. Port 0 picks a free one.",
  },
  XDSKIT_ADDRESS_UNAVAILABLE: {
    meaning: "A listening address cannot be used, although its port is free.",
    cause: "The host does not belong to this machine, its name cannot be resolved, or the port needs more privileges.",
    fix: "Choose another address with --grpc, --rest or --admin: 0.0.0.0 or [::] for all interfaces, a port above 1023.",
  },
  XDSKIT_DANGLING_REFERENCE: {
    meaning: "A resource refers to another one that does not exist in its group.",
    cause: "A typo in a name, or a missing file. A route to a missing cluster answers 503.",
    fix: "Correct the name or add the resource. If clients have it from elsewhere, list it under `references_except`. As an error it refuses the change: that is `references: strict`.",
  },
  XDSKIT_REFERENCE_BROKEN: {
    meaning: "A change would remove a resource that others still name, so it was refused as a whole.",
    cause:
      "A cluster, a route configuration or a secret was deleted or renamed, and a route or a listener of the same group still names it: its requests would fail.",
    fix: "Put it back, or change the resources that name it as well: the change is applied as soon as it is complete. `references: warn` (`--references warn`) applies it all the same.",
  },
  XDSKIT_DUPLICATE_RESOURCE: {
    meaning: "Two resources of one type have the same name within one layer.",
    cause: "A file was copied and not edited, or an old file is still there beside the new one.",
    fix: "Rename or delete one of them; the message names both files. To override one on purpose, put them into two folders of a group.",
  },
  XDSKIT_ENVOY_TOO_OLD: {
    meaning:
      "A resource uses something that is newer than the version of Envoy that was asked about, or that connected.",
    cause:
      "The resource was written for a newer Envoy. Envoy ignores fields that it does not know, and rejects extensions that it does not have.",
    fix: "Upgrade these Envoys, remove the new part, or serve it only to a group of newer ones.",
  },
  XDSKIT_ENVOY_UNKNOWN: {
    meaning:
      "`xdskit validate --envoy-version` was asked about an Envoy that is older or newer than all that are known.",
    cause: "The version is misspelled, or this xdskit has no table of what this Envoy has.",
    fix: "Ask about a version that the message names, or ask that Envoy itself with `--envoy PATH`.",
  },
  XDSKIT_ENVOY_REFUSES: {
    meaning: "The Envoy that `xdskit validate --envoy` asked refuses a resource.",
    cause:
      "The message has Envoy's own words: parts that do not fit together, a file that is not on this machine, an extension that this build does not have.",
    fix: "Change the resource, or ask on a machine that has the same files and the same Envoy as your clients.",
  },
  XDSKIT_ENVOY_UNUSABLE: {
    meaning: "The program that `xdskit validate --envoy` names cannot be asked.",
    cause: "The path is wrong, the program may not be run on this machine, or it is no Envoy.",
    fix: "Give the path of an Envoy's executable, such as /usr/local/bin/envoy.",
  },
  XDSKIT_EXTENSION_MISSING: {
    meaning: "A resource configures an extension that the standard build of Envoy does not have.",
    cause:
      "The extension is part of Envoy's contrib build, only other proxies have it, or the type is not the configuration of an extension.",
    fix: "Run an Envoy that has the extension, such as the contrib image, and ignore the warning; or choose another type.",
  },
  XDSKIT_FOLDER_MISSING: {
    meaning:
      "The configuration folder, a folder of one of its groups, or the one that a file is written to, does not exist.",
    cause: "A typo in the path, a volume that is not mounted, or a broken symbolic link.",
    fix: "Create the folder, or correct the path. A server picks it up as soon as it exists; the last good configuration stays in use until then.",
  },
  XDSKIT_GROUP_FOLDERS: {
    meaning: "None of a group's folders exists.",
    cause:
      "A typo in the group's `folders`, or an empty folder, which git does not keep. The clients of the group would lose everything that they have.",
    fix: "Correct the name, or create the folder with a file in it; a file with `[]` is enough. With --allow-empty the server starts anyway.",
  },
  XDSKIT_NO_VALID_FILE: {
    meaning: "The configuration folder holds no file that can be served.",
    cause:
      "It is empty, its files have other extensions than .yaml, .yml, .json, .pb, .pb_text and .textproto, or all of them have errors.",
    fix: "Correct the files that the messages name, or start with --allow-empty and add files later.",
  },
  XDSKIT_FILE_EMPTIED: {
    meaning: "A file that had resources is empty now.",
    cause: "A program is writing it in place, or failed halfway.",
    fix: "If its resources should be removed, delete the file, or write `[]` into it. Write files under another name and rename them into place.",
  },
  XDSKIT_FOLDER_LIMIT: {
    meaning: "The configuration folder has more files, or deeper folders, than the limit.",
    cause: "The path is wrong, or a symbolic link leads out of the folder into a large tree.",
    fix: "Check the path in the message. Raise the limit if the folder really is that large.",
  },
  XDSKIT_FOLDER_UNSETTLED: {
    meaning: "The configuration folder kept being replaced while it was read.",
    cause: "A symbolic link is swapped faster than the files behind it can be read.",
    fix: "Swap the link less often. xdskit tries again automatically; the last good configuration stays in use until then.",
  },
  XDSKIT_FOLDER_OPTION: {
    meaning: "An option of the folder source has an invalid value.",
    cause: "A group's folder is absolute or lies outside of the configuration folder, or a time is negative.",
    fix: "Name folders relative to the configuration folder, without `..`.",
  },
  XDSKIT_SERVER_OPTION: {
    meaning: "An option of `createServer` has an invalid value.",
    cause: "A time that is negative or not a number, a limit of 0, or a word that the option does not know.",
    fix: "Correct the option that the message names. Times are in milliseconds.",
  },
  XDSKIT_ADMIN_OPTION: {
    meaning: "An option of `createAdmin` or `createAdminApi` has an invalid value.",
    cause: "An option that does not exist, one that is missing, or a value of another kind.",
    fix: "Correct the option that the message names.",
  },
  XDSKIT_BUILDER_OPTION: {
    meaning: "An option of a builder of resources, such as `httpListener`, has an invalid value.",
    cause: "An option that neither the builder nor its message has, one that is missing, or a value of another kind.",
    fix: "Correct the option that the message names.",
  },
  XDSKIT_RELAY_OPTION: {
    meaning: "An option of `createRelay` has an invalid value.",
    cause: "An option that does not exist, one that is missing, or a value of another kind.",
    fix: "Correct the option that the message names. Times are in milliseconds.",
  },
  XDSKIT_CHANGE_REFUSED: {
    meaning: "The server refused a change from a source.",
    cause: "The server is closing, or the change does not fit any group.",
    fix: "Read the reason in the message. The last good configuration stays in use, and the server tries the change again with the next one.",
  },
  XDSKIT_WATCH_UNAVAILABLE: {
    meaning: "The operating system refused to watch a folder for changes.",
    cause:
      "The limit of watches is used up (on Linux fs.inotify.max_user_watches or max_user_instances), or the file system cannot be watched.",
    fix: "Raise the limit. Until then xdskit finds changes by looking at the files every few seconds.",
  },
  XDSKIT_GROUP_INVALID: {
    meaning: "The settings of a group of nodes are invalid.",
    cause: "A match key that does not exist, a name that is used twice, or a group without layers or folders.",
    fix: "Match by id, cluster, locality.region, locality.zone, locality.sub_zone or metadata.KEY, and name at least one folder.",
  },
  XDSKIT_GROUP_UNKNOWN: {
    meaning: "There is no group of nodes of that name.",
    cause: "A typo, or a group that the settings no longer name.",
    fix: "Look at the groups in the settings; without any, there is one group: all.",
  },
  XDSKIT_TYPE_NAME_UNKNOWN: {
    meaning: "There is no resource type of that name.",
    cause: "A typo, or a type of your own that the server was not told about.",
    fix: "Use a name such as cluster, an abbreviation such as cds, or a type URL.",
  },
  XDSKIT_API_LOGIN: {
    meaning: "The server has roles, and a request to its admin listener shows nobody whom it knows.",
    cause: "It has no token, a token that the settings no longer have, or it comes past the proxy that logs people in.",
    fix: "Give the command --token-file, or set XDSKIT_TOKEN_FILE. `xdskit token create NAME` makes a token.",
  },
  XDSKIT_OPEN_LISTENER: {
    meaning: "A listener would let in everybody on the network.",
    cause: "Its address is not of this machine alone, and it has no TLS, or the admin listener has no roles.",
    fix: "Write the line that the message names into the settings (a program: give it to `createAdmin`), listen on 127.0.0.1 or unix:/PATH, or start with --insecure where something else protects it.",
  },
  XDSKIT_ADDRESS_INVALID: {
    meaning: "A listening address does not have the form HOST:PORT or unix:/PATH.",
    cause: "The port is missing or above 65535, or an IPv6 address has no brackets.",
    fix: "Write 127.0.0.1:18000, [::1]:18000, 0.0.0.0:18000 for all interfaces, or unix:/run/xds.sock. Port 0 picks a free one.",
  },
  XDSKIT_SERVER_CLOSED: {
    meaning: "A server was used after it was closed.",
    cause: "listen or addSource was called after close.",
    fix: "Create a new server.",
  },
  XDSKIT_DESCRIPTOR_SET: {
    meaning: "A descriptor set of the user's own messages cannot be used.",
    cause:
      "The file is not a serialized google.protobuf.FileDescriptorSet, it lacks a file that another one imports, or a file that replaces a built-in one lacks parts that other built-in files need.",
    fix: "Make it with `buf build -o set.binpb`, or `protoc --include_imports --descriptor_set_out=set.binpb`; leave out Envoy's own files where they do not match the built-in ones.",
  },
  XDSKIT_TYPE_DEFINITION: {
    meaning: "A program, or `types` in the settings, defined a resource type that is invalid or already taken.",
    cause:
      "There is no such message, another type has that name or message, the field that should hold a resource's name does not exist, or the type that it must come after does not exist.",
    fix: "Give each type its own name, spell fields as the proto does, and pass the descriptor set that has the message.",
  },
  XDSKIT_TYPE_UNKNOWN: {
    meaning: "A message was given as a resource, but its type is not an xDS resource type.",
    cause:
      "A part of a resource stands where a resource should (a route where a route configuration should), or the type URL has a typo.",
    fix: "Use one of the resource types: Listener, RouteConfiguration, Cluster, ClusterLoadAssignment, Secret …",
  },
  XDSKIT_NAME_MISSING: {
    meaning: "A resource has no name.",
    cause:
      "Its field `name` (`cluster_name` of a ClusterLoadAssignment) is empty, or messages of its type carry no name (LbEndpoint).",
    fix: "Fill in the field, or wrap the resource in an envoy.service.discovery.v3.Resource with a `name`.",
  },
  XDSKIT_NAME_DIFFERS: {
    meaning: "A resource's own name differs from the name in the envoy.service.discovery.v3.Resource around it.",
    cause:
      "Only one of the two was renamed, or a virtual host of VHDS has its own name instead of `<route configuration>/<virtual host>`.",
    fix: "Write the same name into both. Otherwise Envoy cannot remove a virtual host, and does not accept a route configuration or a secret.",
  },
  XDSKIT_AUTHORITY: {
    meaning: "A resource's `xdstp://` name has an authority that the server does not serve.",
    cause: "The setting `authorities` does not list the authority that follows `xdstp://` in the name.",
    fix: "Add the authority to the setting, or rename the resource; `xdstp:///…`, without an authority, is served by every server.",
  },
  XDSKIT_CONSTRAINTS: {
    meaning: "The envoy.service.discovery.v3.Resource around a resource does not say which clients get this variant.",
    cause:
      "Its dynamic_parameter_constraints are empty, a constraint has neither `value` nor `exists`, they are nested too deep, or both `name` and `resource_name` are set.",
    fix: "Say `resource_name: { name, dynamic_parameter_constraints: { constraint: { key, value } } }`, without `name` beside it.",
  },
  XDSKIT_NAME_XDSTP: {
    meaning: "A resource's name begins with `xdstp:` but is not a valid xdstp name for a resource of its type.",
    cause:
      "It does not have the form `xdstp://authority/type/name?key=value`, it names another type, or it is a locator: a glob (`/*`), or one with directives (`#`).",
    fix: "Write the full name of the resource's own message into it (`envoy.config.cluster.v3.Cluster`), or use a plain name.",
  },
  XDSKIT_TTL: {
    meaning: "A TTL is not positive.",
    cause: "A `ttl` of zero or less.",
    fix: "Set a time above zero, or leave it out if the resource does not expire.",
  },
  XDSKIT_LOAD_REPORTS_INVALID: {
    meaning: "The request for load reports is invalid.",
    cause: "An interval that is too short or too long, or an empty list of clusters.",
    fix: 'Set an interval of at least 100 ms, and name clusters. For all clusters leave `clusters` out, or say "all".',
  },
  XDSKIT_MESSAGE_INVALID: {
    meaning: "A message cannot be written as protobuf.",
    cause:
      "A program put a value into a field that the field's type cannot hold: a fraction into an integer, a string into a message.",
    fix: "Check the field that the message names. Make messages with `create` of @bufbuild/protobuf, which the compiler checks.",
  },
  XDSKIT_FILE_FORM: {
    meaning: "A file is well-formed but holds no resources in a known form.",
    cause: "It is something other than resource configuration, such as a list of names.",
    fix: 'A file holds a resource with "@type", a list of them, YAML documents of them, or a DiscoveryResponse (`resources: [...]`); or a bootstrap or dump (docs/adopt.md).',
  },
  XDSKIT_TYPE_MISSING: {
    meaning: 'A resource or an extension lacks "@type", so nothing says what its fields mean.',
    cause: "The line was forgotten, or is at the wrong level of the file.",
    fix: 'Add it, such as "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster.',
  },
  XDSKIT_TYPE_MISMATCH: {
    meaning: "A DiscoveryResponse says one type in type_url and holds another.",
    cause: "Files of several types were merged.",
    fix: "Remove type_url: every resource says its type itself.",
  },
  XDSKIT_FIELD_UNKNOWN: {
    meaning: "A message has no field of that name.",
    cause: "A typo, a wrong level of indentation, or a field that was removed from the API.",
    fix: "Use the name that the message suggests, or look at the message in Envoy's API reference.",
  },
  XDSKIT_FIELD_INVALID: {
    meaning: "A field's value has the wrong kind.",
    cause: "A list where a mapping belongs, a number where a string belongs, two fields of which only one may be set …",
    fix: "Write a value of the kind that the message names. Strings that look like numbers or booleans need quotes.",
  },
  XDSKIT_RULE_BROKEN: {
    meaning: "A field breaks a validation rule of its proto file (`validate.rules`): Envoy would reject the resource.",
    cause: "A required field is missing, or a value is out of its range.",
    fix: "Change the field so that it obeys the rule that the message names.",
  },
  XDSKIT_NOTHING_TAKEN: {
    meaning: "A file is a bootstrap, a config dump or something similar, and holds no resource that can be served.",
    cause:
      "The bootstrap has no static_resources, the dump covers another part of the configuration, or all its secrets are hidden.",
    fix: "Remove the file from the folder, or make the dump again with the missing parts: see docs/adopt.md.",
  },
  XDSKIT_DUMPED_STATE: {
    meaning: "A dump holds a momentary state where a setting belongs.",
    cause: "Envoy writes endpoints that failed their health checks as UNHEALTHY.",
    fix: "Make the dump again while all endpoints are healthy, or change the field in the file.",
  },
  XDSKIT_SECRET_LEFT_OUT: {
    meaning: "A field holds `[redacted]` instead of a secret.",
    cause:
      "The file was printed by `xdskit get`, by Envoy's admin or by another program that leaves secrets out. Clients would use the word itself as the key or the password.",
    fix: "Write the secret there, or print the resource again with `xdskit get --show-secrets`.",
  },
  XDSKIT_NOT_IN_JSON: {
    meaning: "A resource holds something that JSON cannot express.",
    cause:
      "xdskit does not know a field, or the type of an `Any`, and JSON needs their names. Over gRPC, in binary files and between xdskits the content passes through unchanged.",
    fix: "Let Envoys that need it ask over gRPC or read binary files (--to-files-format pb), or pass the descriptor set of your types with --descriptors. docs/serve.md shows what such JSON looks like.",
  },
  XDSKIT_REGEX_INVALID: {
    meaning: "A regular expression is not valid in RE2, the syntax that Envoy and gRPC use.",
    cause:
      "An unbalanced parenthesis, something that RE2 does not have (look-ahead, look-behind, back references), or too many repetitions.",
    fix: "Rewrite it in RE2's syntax. Such an expression crashes some gRPC clients, so it is never served.",
  },
  XDSKIT_REGEX_LARGE: {
    meaning: "A regular expression is valid but larger than Envoy accepts by default.",
    cause: "Large counted repetitions such as [a-z]{1,200}, or long lists of alternatives.",
    fix: "Make it smaller, or raise re2.max_program_size.error_level in Envoy's runtime. gRPC has no such limit.",
  },
  XDSKIT_CLIENTS_REFUSE: {
    meaning: "A resource obeys every rule of its proto file, but Envoy refuses it.",
    cause:
      "Parts of it do not fit together: a host name where nothing resolves it, filter chains that match the same connections, a cluster of type EDS without an EDS config, a domain twice, two listeners at one address, a key that is not its certificate's. It is an error if every Envoy refuses it, and a warning if gRPC's clients read the same field and accept it.",
    fix: "Change the part that the message names. docs/validate.md has examples.",
  },
  XDSKIT_CERTIFICATE_TIME: {
    meaning: "A certificate in a resource has expired, or is not valid yet.",
    cause: "It was not renewed in time, or the clock of this machine or of the one that issued it is wrong.",
    fix: "Renew the certificate, and put the new one into the resource. Envoy takes the resource as it is, but its peers refuse the connection.",
  },
  XDSKIT_ON_DEMAND_FAILED: {
    meaning: "The on-demand supplier failed to say whether a name exists.",
    cause: "It threw, its promise was rejected, or it took longer than the limit.",
    fix: "Fix the error in the message. xdskit asks again automatically, with growing delays. Clients that wait are told after a while that the resource does not exist.",
  },
  XDSKIT_ON_DEMAND_UNSUITABLE: {
    meaning: "The on-demand supplier returned another resource than the requested one.",
    cause:
      "It has another type, it has the name neither as its own nor as an alias, or a layer has another resource of that name.",
    fix: "Give the resource the requested name, or make it with `createResource` and list that name among its aliases.",
  },
  XDSKIT_ON_DEMAND_BUSY: {
    meaning: "Clients ask for more names than may be looked up, or than may wait for the supplier.",
    cause: "The supplier is slow, or a client asks for a great many names that no layer has.",
    fix: "Make the supplier faster, raise `concurrency`, `queue` or `names`, or find the client. Waiting names are tried again automatically, names beyond `names` when a client asks again.",
  },
  XDSKIT_CONFIG_UNRESOLVED: {
    meaning: "A listener was received but cannot be resolved to routes, clusters and endpoints.",
    cause:
      "No virtual host serves the authority, aggregate clusters form a loop or are nested too deep, or routes or endpoints do not come over xDS.",
    fix: "Change the resource that the message names, or the requested authority.",
  },
  XDSKIT_CACHE: {
    meaning: "A relay's cache on disk cannot be used, or a part of it cannot be read.",
    cause:
      "Its permissions forbid it, the path is not a folder, or a file is damaged or was written by another program or by a newer xdskit.",
    fix: "Give the relay a folder of its own. A file that cannot be used is set aside under the name in the message, and the origin sends its content again.",
  },
  XDSKIT_STORE: {
    meaning: "The store of revisions cannot be opened, read or written.",
    cause:
      "The permissions of its folder forbid it, the disk is full, a newer xdskit wrote it, or a file of it is damaged. Or etcd does not answer, or refuses the user. Or other servers of the store cannot find this one.",
    fix: "Give the server a folder that it may write, with --state, or make room on the disk. If no path is short enough to listen on, name another folder for temporary files with TMPDIR. A damaged file is set aside under the name in the message, and history begins anew.",
  },
  XDSKIT_KUBECONFIG: {
    meaning: "A kubeconfig, or the service account of a pod, says no way to the API server of Kubernetes.",
    cause:
      "There is no such file, it names a context, a cluster or a user that it does not have, a file that it names cannot be read, its program gives no credentials, or credentials would go to another machine in plaintext.",
    fix: "Check the file that the message names with `kubectl --kubeconfig FILE get services`, or name another one with --kubeconfig. In a pod, mount the token of its service account.",
  },
  XDSKIT_ANNOTATION: {
    meaning: "An annotation or a field of a Service is not followed; the Service is served without it.",
    cause: "Its value is not what is expected, there is no annotation of this name, or the message says why.",
    fix: "Correct it with `kubectl annotate --overwrite`. docs/kubernetes.md lists all of them.",
  },
  XDSKIT_KUBERNETES_OBJECT: {
    meaning: "An object of Kubernetes that is to be served cannot be; what was served of it before stays.",
    cause:
      "A Secret holds no certificate, or a key of another one. A route names what is not there, or what nobody can follow.",
    fix: "Correct the object that the message names. `kubectl describe` shows the same, if the server writes Events.",
  },
  XDSKIT_KUBERNETES: {
    meaning: "The API server of Kubernetes does not answer, refuses, or sends what cannot be read.",
    cause: "It is away, it does not know the credentials, or these may not list and watch Services and EndpointSlices.",
    fix: "Check the reason in the message. What was read before stays in use, and the server is asked again. The manifests in deploy/kubernetes have the role that is needed.",
  },
  XDSKIT_REVISION_UNKNOWN: {
    meaning: "A revision was named that the store does not have.",
    cause: "Its name is misspelled, or it is older than the history that the store keeps.",
    fix: "Choose one of the revisions that the history lists.",
  },
  XDSKIT_REVISION_CONFLICT: {
    meaning: "A layer or a resource has changed since the writer of a change read it.",
    cause: "Somebody else changed it in between, or `If-Match` names an older revision.",
    fix: "Look at the newest revision, which the answer names, and send the change again with it.",
  },
  XDSKIT_LAYER_UNKNOWN: {
    meaning: "A layer was named that the server does not have.",
    cause: "Its name is misspelled, or the settings do not list it.",
    fix: "Choose a layer of /api/v1/layers, or add one under `layers` in xdskit.yaml.",
  },
  XDSKIT_LEASE_UNKNOWN: {
    meaning: "A lease was named that does not exist.",
    cause: "It was not renewed in its time, other leases took over all its resources, or its id is misspelled.",
    fix: "Write the resources again with a new lease (`?lease=30s`), and renew it before its time is over.",
  },
  XDSKIT_LAYER_READ_ONLY: {
    meaning: "A layer cannot be written through the API.",
    cause: "A folder or an upstream fills it.",
    fix: "Edit the folder, or write to a layer that /api/v1/layers calls writable. A dry run is possible on each.",
  },
  XDSKIT_API_REQUEST: {
    meaning: "A request to the API cannot be understood.",
    cause: "An unknown field, a missing or wrong value, or a body of another type than its content-type says.",
    fix: "Correct the part that the message names. /api/v1/openapi.json describes every request.",
  },
  XDSKIT_API_UNKNOWN: {
    meaning: "The API has nothing at this path, or nothing for this method.",
    cause: "The path is misspelled, or the server is older than its client.",
    fix: "Look the path up in /api/v1/openapi.json.",
  },
  XDSKIT_NODE_UNKNOWN: {
    meaning: "No node of this ID has a stream.",
    cause: "It is not connected, or its ID is misspelled.",
    fix: "Look the nodes up in /api/v1/nodes, or with xdskit status.",
  },
  XDSKIT_API_FORBIDDEN: {
    meaning: "The API does not answer this caller.",
    cause:
      "The roles in the settings do not let it do this. Or a web page in a browser asks, or the request names a host that is not this machine.",
    fix: "Give it a role that may do it (docs/security.md). Call the server by its address or as localhost, and not from a web page.",
  },
  XDSKIT_FAULT: {
    meaning: "A request to the API failed because of a fault in xdskit.",
    cause: "An error in xdskit.",
    fix: "Please report it with the message.",
  },
  XDSKIT_FOLDER_DIFFERS: {
    meaning: "Servers of one store serve folders with different content.",
    cause:
      "The volume, image or checkout of one of them is older, or its folder has errors, so that it serves what it had before.",
    fix: "Bring the folders of all servers to the same content. Until then a client gets what the server has that it is connected to.",
  },
  XDSKIT_REPLICA_SILENT: {
    meaning: "Another server of the store did not answer, and only it may know what was asked for.",
    cause: "The server is stopped, overloaded or cut off. The message names it, and says why it did not answer.",
    fix: "Ask again in a few seconds: a server that is gone for good is forgotten within 8 seconds. Otherwise look at that server.",
  },
  XDSKIT_BUSY: {
    meaning: "The server already has too much work of one kind.",
    cause:
      "Too many changes wait for the disk, the bodies of requests are too large together, or a bounded list is full.",
    fix: "Try again later. If it goes on, find out who sends so many requests.",
  },
  XDSKIT_TO_FILES: {
    meaning: "xdskit cannot write the served resources to the folder of --to-files.",
    cause:
      "The folder holds other programs' files or lies inside a served folder, its permissions forbid it, or the group is not named or does not exist.",
    fix: "Choose an empty folder outside of the served folders, or one that xdskit wrote before. Choose the group with --to-files-group.",
  },
  XDSKIT_BOOTSTRAP: {
    meaning:
      "A bootstrap of gRPC or Envoy lacks something that a client needs, or asks for something that is not supported.",
    cause:
      "A field is missing or of the wrong kind, a cluster that it names is not in static_resources, or it asks for credentials that are not supported (google_default, SDS).",
    fix: "Correct the field that the message names. `xdskit bootstrap` prints bootstraps to start from.",
  },
  XDSKIT_CREDENTIALS: {
    meaning: "A client's credentials, or its settings for checking a management server, are invalid.",
    cause:
      "A certificate has no key, a path holds a certificate's content, a token would go to another machine in plaintext, TLS is set for an http:// URL, or a header has an invalid name or value.",
    fix: "Correct the setting that the message names.",
  },
  XDSKIT_CREDENTIALS_FILE: {
    meaning: "A file with a certificate, a private key or a token cannot be used.",
    cause:
      "It does not exist, its permissions forbid it, it is not in PEM form, the key needs a password, or certificate and key do not match.",
    fix: "Fix the file that the message names. A client reads it again with its next attempt, a server within seconds. The previous certificates stay in use.",
  },
  XDSKIT_TLS_HANDSHAKE: {
    meaning: "No TLS connection to a management server could be made.",
    cause:
      "The server's certificate is not trusted or is for another name, the server wants a client certificate, or it does not speak TLS.",
    fix: "Set the authority's certificate (`caFile`), the name in the certificate (`serverName`), or the client's own (`certificateFile`, `keyFile`). The client tries again automatically.",
  },
  XDSKIT_CLIENT_OPTION: {
    meaning: "An option of `createClient`, or an argument of one of the client's methods, has an invalid value.",
    cause: "An invalid server address, a negative time, or a collection where a single name is needed.",
    fix: "Correct the option or argument that the message names. Times are in milliseconds.",
  },
  XDSKIT_CLIENT_CLOSED: {
    meaning: "A client was used after it was closed.",
    cause: "watch or get was called after close, or close was called while get was waiting.",
    fix: "Create a new client.",
  },
  XDSKIT_CLIENT_TIMEOUT: {
    meaning: "A resource did not arrive in time.",
    cause:
      "The server is slow or does not know the name yet, or the timeout is shorter than the 15 s after which a name counts as absent.",
    fix: "Check what the server has, or wait longer.",
  },
  XDSKIT_UPSTREAM_AWAY: {
    meaning: "A management server does not answer.",
    cause:
      "It is not running, its address is wrong, something in between refuses the connection, or the server ends streams at once.",
    fix: "Check the address and the reason in the message. The client tries again automatically, with growing delays. Resources that it received before stay in use.",
  },
  XDSKIT_UPSTREAM_NONE: {
    meaning: "A client has no server for a name.",
    cause: "The name's authority is not configured, and there are no default servers.",
    fix: "Add the authority, or servers, to the client's options or bootstrap.",
  },
  XDSKIT_RESOURCE_ABSENT: {
    meaning: "A requested resource does not exist, or was removed.",
    cause: "A typo in the name, the server serves something else to this node, or the resource was removed.",
    fix: "Check what the server serves to this node. Watchers are told as soon as it appears.",
  },
  XDSKIT_RESOURCE_FAILING: {
    meaning: "The management server says that it cannot give a resource now.",
    cause: "Something behind the server is unavailable. The message comes from the server.",
    fix: "Check the server. Resources that were received before stay in use.",
  },
  XDSKIT_UPDATE_REJECTED: {
    meaning: "The client rejected what the management server sent, and told it so.",
    cause:
      "A resource breaks a validation rule of its proto file or a check of the program, or the response breaks the protocol.",
    fix: "Correct on the server the resource that the message names. Resources that were received before stay in use.",
  },
  XDSKIT_CHECK_FAILED: {
    meaning: "A resource fails one of the program's own checks.",
    cause: "The message is the check's result, or the error that it threw.",
    fix: "Correct the resource on the server, or the check.",
  },
  XDSKIT_CLIENT_LIMIT: {
    meaning: "A management server or a file exceeds a limit of the client.",
    cause: "More bytes in one response, or more resources of one type, than `limits` allows.",
    fix: "Raise the limit that the message names, or ask for fewer names. Resources that were received before stay in use.",
  },
  XDSKIT_POLL_FAILED: {
    meaning: "A poll of a REST server got no usable answer.",
    cause:
      "The server cannot be reached, does not answer in time, answers with a status other than 200 and 304, or with something that is not a DiscoveryResponse in JSON.",
    fix: "Check the status and the server's answer in the message. Resources that were received before stay in use, and the client polls again automatically.",
  },
  XDSKIT_POLL_UNSUPPORTED: {
    meaning: "The requested resource type does not exist over REST.",
    cause: "VHDS and LEDS are incremental only, list collections exist on ADS only, and some types are not in v2.",
    fix: 'Ask for it over gRPC (`variant: "delta"`).',
  },
} as const satisfies Record<string, ErrorCode>;

/** The code of an error or a finding, which docs/errors.md explains. */
export type XdskitErrorCode = keyof typeof errorCodes;

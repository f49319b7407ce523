import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.protobuf.Message;
import com.google.protobuf.util.JsonFormat;
import io.envoyproxy.controlplane.cache.NodeGroup;
import io.envoyproxy.controlplane.cache.v3.SimpleCache;
import io.envoyproxy.controlplane.cache.v3.Snapshot;
import io.envoyproxy.controlplane.server.V3DiscoveryServer;
import io.envoyproxy.envoy.config.cluster.v3.Cluster;
import io.envoyproxy.envoy.config.core.v3.Node;
import io.envoyproxy.envoy.config.endpoint.v3.ClusterLoadAssignment;
import io.envoyproxy.envoy.config.listener.v3.Listener;
import io.envoyproxy.envoy.config.route.v3.RouteConfiguration;
import io.envoyproxy.envoy.extensions.filters.http.router.v3.Router;
import io.envoyproxy.envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * A management server made of java-control-plane, and its driver for xds-conformance: {@code ControlPlane PORT} serves on loopback what the
 * orders on standard input say, and answers each.
 */
final class ControlPlane {
  private static final JsonFormat.Parser PARSER =
      JsonFormat.parser()
          .usingTypeRegistry(
              JsonFormat.TypeRegistry.newBuilder()
                  .add(HttpConnectionManager.getDescriptor())
                  .add(Router.getDescriptor())
                  .build());
  private static final String ALL = "all";

  public static void main(String[] args) throws IOException {
    SimpleCache<String> cache =
        new SimpleCache<>(
            new NodeGroup<String>() {
              @Override
              public String hash(Node node) {
                return ALL;
              }
            });
    V3DiscoveryServer xds = new V3DiscoveryServer(cache);
    NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])))
        .addService(xds.getAggregatedDiscoveryServiceImpl())
        .addService(xds.getClusterDiscoveryServiceImpl())
        .addService(xds.getEndpointDiscoveryServiceImpl())
        .addService(xds.getListenerDiscoveryServiceImpl())
        .addService(xds.getRouteDiscoveryServiceImpl())
        .build()
        .start();
    BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    int version = 0;
    for (String line = orders.readLine(); line != null; line = orders.readLine()) {
      JsonObject set = JsonParser.parseString(line).getAsJsonObject().getAsJsonObject("set");
      if (set == null) {
        System.out.println("{\"ok\":false,\"error\":\"this driver can only set\"}");
        continue;
      }
      List<Cluster> clusters = read(set, "envoy.config.cluster.v3.Cluster", Cluster::newBuilder);
      List<ClusterLoadAssignment> endpoints =
          read(set, "envoy.config.endpoint.v3.ClusterLoadAssignment", ClusterLoadAssignment::newBuilder);
      List<Listener> listeners = read(set, "envoy.config.listener.v3.Listener", Listener::newBuilder);
      List<RouteConfiguration> routes =
          read(set, "envoy.config.route.v3.RouteConfiguration", RouteConfiguration::newBuilder);
      String next = String.valueOf(++version);
      cache.setSnapshot(ALL, Snapshot.create(clusters, endpoints, listeners, routes, new ArrayList<>(), next));
      System.out.println("{\"ok\":true}");
    }
    System.exit(0);
  }

  @SuppressWarnings("unchecked")
  private static <M extends Message> List<M> read(JsonObject set, String type, Supplier<Message.Builder> builders)
      throws IOException {
    List<M> messages = new ArrayList<>();
    JsonObject resources = set.getAsJsonObject("type.googleapis.com/" + type);
    if (resources == null) {
      return messages;
    }
    for (String name : resources.keySet()) {
      JsonElement resource = resources.get(name);
      Message.Builder builder = builders.get();
      PARSER.merge(resource.toString(), builder);
      messages.add((M) builder.build());
    }
    return messages;
  }
}

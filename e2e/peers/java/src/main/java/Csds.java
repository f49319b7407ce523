import com.google.protobuf.StringValue;
import io.grpc.CallOptions;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.InsecureServerCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.services.AdminInterface;
import io.grpc.stub.ClientCalls;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/**
 * Calls an xds:/// target over and over, says nothing of it, and serves gRPC's admin services, of which CSDS is one. It listens at the port
 * of XDS_CONFORMANCE_CSDS, or at a free one, and prints "listening on ADDRESS" once.
 */
final class Csds {
  public static void main(String[] args) throws IOException, InterruptedException {
    if (args.length != 1) {
      System.err.println("usage: Csds TARGET");
      System.exit(1);
    }
    Echo.exitWhenInputCloses();
    ManagedChannel channel = Grpc.newChannelBuilder(args[0], InsecureChannelCredentials.create()).build();
    String[] address = System.getenv().getOrDefault("XDS_CONFORMANCE_CSDS", "127.0.0.1:0").split(":");
    int port = Integer.parseInt(address[1]);
    Server server =
        NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", port), InsecureServerCredentials.create())
            .addServices(AdminInterface.getStandardServices())
            .build()
            .start();
    System.out.println("listening on 127.0.0.1:" + server.getPort());
    while (true) {
      CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(1, TimeUnit.SECONDS);
      try {
        ClientCalls.blockingUnaryCall(channel, Echo.NAME, options, StringValue.getDefaultInstance());
      } catch (StatusRuntimeException unanswered) {
        // What the client has is asked of it elsewhere.
      }
      Thread.sleep(100);
    }
  }
}

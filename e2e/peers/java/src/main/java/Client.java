import com.google.protobuf.StringValue;
import io.grpc.CallOptions;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.util.concurrent.TimeUnit;
import java.util.logging.ConsoleHandler;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Calls an xds:/// target over and over and prints a line for each call: "ok NAME" or "fail CODE MESSAGE". */
final class Client {
  // A logger that nothing refers to is forgotten with its level.
  private static final Logger XDS = Logger.getLogger("io.grpc.xds");

  public static void main(String[] args) throws InterruptedException {
    if (args.length != 2) {
      System.err.println("usage: Client TARGET INTERVAL_MS");
      System.exit(1);
    }
    long interval = Long.parseLong(args[1]);
    if ("debug".equals(System.getenv("GRPC_VERBOSITY"))) logAll();
    Echo.exitWhenInputCloses();
    ManagedChannel channel = Grpc.newChannelBuilder(args[0], InsecureChannelCredentials.create()).build();
    StringValue request = StringValue.getDefaultInstance();
    while (true) {
      CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(10, TimeUnit.SECONDS);
      try {
        System.out.println("ok " + ClientCalls.blockingUnaryCall(channel, Echo.NAME, options, request).getValue());
      } catch (StatusRuntimeException error) {
        Status status = error.getStatus();
        System.out.println("fail " + status.getCode() + " " + quoted(status.getDescription()));
      }
      Thread.sleep(interval);
    }
  }

  private static String quoted(String description) {
    return description == null ? "\"\"" : '"' + description.replace("\n", "\\n") + '"';
  }

  private static void logAll() {
    ConsoleHandler handler = new ConsoleHandler();
    handler.setLevel(Level.ALL);
    XDS.addHandler(handler);
    XDS.setUseParentHandlers(false);
    XDS.setLevel(Level.ALL);
  }
}

import com.google.protobuf.StringValue;
import io.grpc.MethodDescriptor;
import io.grpc.protobuf.ProtoUtils;
import java.io.IOException;

/** What the programs have in common: the method that they call, and their end. */
final class Echo {
  static final MethodDescriptor<StringValue, StringValue> NAME =
      MethodDescriptor.<StringValue, StringValue>newBuilder()
          .setType(MethodDescriptor.MethodType.UNARY)
          .setFullMethodName("xdskit.e2e.Echo/Name")
          .setRequestMarshaller(ProtoUtils.marshaller(StringValue.getDefaultInstance()))
          .setResponseMarshaller(ProtoUtils.marshaller(StringValue.getDefaultInstance()))
          .build();

  private Echo() {}

  /** Standard input closes when the test ends. */
  static void exitWhenInputCloses() {
    Thread thread =
        new Thread(
            () -> {
              try {
                while (System.in.read() != -1) {}
              } catch (IOException closed) {
                // As good as its end.
              }
              Runtime.getRuntime().halt(0);
            });
    thread.setDaemon(true);
    thread.start();
  }
}

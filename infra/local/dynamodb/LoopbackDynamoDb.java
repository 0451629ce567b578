// AWS's DynamoDB Local on a free port of 127.0.0.1 alone: the jar's own main listens on every interface and has no flag for it.
// Prints its port, and ends when its stdin does, that is with the process that started it, however that one died.
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import software.amazon.dynamodb.services.local.main.ServerRunner;

class LoopbackDynamoDb {
  public static void main(String[] flags) throws Exception {
    var dynamo = ServerRunner.createServerFromCommandLineArgs(flags);
    var field = dynamo.getClass().getDeclaredField("server");
    field.setAccessible(true);
    ServerConnector listening = null;
    for (Connector connector : ((Server) field.get(dynamo)).getConnectors()) {
      listening = (ServerConnector) connector;
      listening.setHost("127.0.0.1");
      listening.setPort(0);
    }
    var accessKey = System.getenv("DATABASE_ACCESS_KEY");
    if (accessKey != null) ((Server) field.get(dynamo)).insertHandler(new OnlyWith(accessKey));
    dynamo.safeStart(); // start() would also report to AWS's telemetry
    System.out.println("LISTENING " + listening.getLocalPort());
    while (System.in.read() != -1) {}
    Runtime.getRuntime().halt(0);
  }
}

/** Other users of the machine reach the port, too, and DynamoDB Local lets everybody in: it checks no signature. */
class OnlyWith extends Handler.Wrapper {
  private final String credential;

  OnlyWith(String accessKey) {
    credential = "Credential=" + accessKey + "/";
  }

  @Override
  public boolean handle(Request request, Response response, Callback callback) throws Exception {
    var sent = request.getHeaders().get("Authorization");
    if (sent != null && sent.contains(credential)) return super.handle(request, response, callback);
    Response.writeError(request, response, callback, 403);
    return true;
  }
}

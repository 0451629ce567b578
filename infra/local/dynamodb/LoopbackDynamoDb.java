// AWS's DynamoDB Local on a free port of 127.0.0.1 alone: the jar's own main listens on every interface and has no flag for it.
// Prints its port, and ends when its stdin does, that is with the process that started it, however that one died.
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
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
    dynamo.safeStart(); // start() would also report to AWS's telemetry
    System.out.println("LISTENING " + listening.getLocalPort());
    while (System.in.read() != -1) {}
    Runtime.getRuntime().halt(0);
  }
}

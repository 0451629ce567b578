// AWS's DynamoDB Local on a free port of 127.0.0.1 alone: the jar's own main listens on every interface and has no flag for it.
// Prints its port, and ends when its stdin does, that is with the process that started it, however that one died.
import com.almworks.sqlite4java.SQLiteConnection;
import com.almworks.sqlite4java.SQLiteException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.BeanDescription;
import com.fasterxml.jackson.databind.DeserializationConfig;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.deser.BeanDeserializerModifier;
import com.fasterxml.jackson.databind.deser.std.DelegatingDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.SequenceInputStream;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import software.amazon.dynamodb.services.local.main.ServerRunner;
import software.amazon.dynamodb.services.local.shared.access.sqlite.TableSchemaInfo;

class LoopbackDynamoDb {
  public static void main(String[] flags) throws Exception {
    KeptSchemas.install();
    var folder = Arrays.asList(flags).indexOf("-dbPath") + 1;
    if (folder > 0) WriteAhead.start(new File(flags[folder], "shared-local-instance.db"));
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

/** SQLite's write-ahead log: it syncs the disk once for each change, where the usual journal does so four times, and is as durable. */
class WriteAhead {
  private static final int CHECKPOINT_MILLISECONDS = 1000;

  /** Before DynamoDB Local opens the file. */
  static void start(File file) throws Exception {
    var set = new CompletableFuture<Void>();
    var thread = new Thread(() -> run(file, set), "WriteAhead");
    thread.setDaemon(true);
    thread.start();
    set.get();
  }

  /** DynamoDB Local commits while it reads, which keeps SQLite from moving the log into the file: a connection of our own does it. */
  private static void run(File file, CompletableFuture<Void> set) {
    Logger.getLogger("com.almworks.sqlite4java").setLevel(Level.OFF); // it logs what it opens
    var connection = new SQLiteConnection(file); // for one thread only
    try {
      connection.open();
      connection.exec("PRAGMA journal_mode=WAL");
      connection.exec("SELECT count(*) FROM sqlite_master"); // a checkpoint does nothing before the first read
      set.complete(null);
      while (true) checkpoint(connection);
    } catch (SQLiteException | InterruptedException error) {
      set.completeExceptionally(error);
    }
  }

  private static void checkpoint(SQLiteConnection connection) throws InterruptedException {
    Thread.sleep(CHECKPOINT_MILLISECONDS);
    try {
      connection.exec("PRAGMA wal_checkpoint(PASSIVE)"); // without making others wait
    } catch (SQLiteException diskFull) {
      return; // the next one moves what this one could not
    }
  }
}

/** Parses each schema once. DynamoDB Local parses its table's schema from JSON several times in each call, which takes half of the call. */
class KeptSchemas extends DelegatingDeserializer {
  private static final String[] READERS = {"SQLiteDBAccess", "SQLiteDBAccessJob"};
  private static final Field[] FIELDS = TableSchemaInfo.class.getDeclaredFields();

  private record Kept(byte[] json, TableSchemaInfo schema) {}

  /** As many as tables ever had different schemas: a few. */
  private final List<Kept> all = new CopyOnWriteArrayList<>();

  private KeptSchemas(JsonDeserializer<?> parser) {
    super(parser);
  }

  /** Before the first call. */
  static void install() throws ReflectiveOperationException {
    for (var field : FIELDS) field.setAccessible(true);
    for (var reader : READERS) {
      var mapper = Class.forName(TableSchemaInfo.class.getPackageName() + "." + reader).getDeclaredField("MAPPER");
      mapper.setAccessible(true);
      ((ObjectMapper) mapper.get(null)).registerModule(new SimpleModule().setDeserializerModifier(new BeanDeserializerModifier() {
        @Override
        public JsonDeserializer<?> modifyDeserializer(DeserializationConfig config, BeanDescription type, JsonDeserializer<?> parser) {
          return type.getBeanClass() == TableSchemaInfo.class ? new KeptSchemas(parser) : parser;
        }
      }));
    }
  }

  @Override
  protected JsonDeserializer<?> newDelegatingInstance(JsonDeserializer<?> parser) {
    return new KeptSchemas(parser);
  }

  @Override
  public Object deserialize(JsonParser parser, DeserializationContext context) throws IOException {
    var rest = new Rest(); // of the JSON after its first brace
    parser.releaseBuffered(rest);
    for (var kept : all) if (rest.equals(kept.json)) return copyOf(kept.schema);
    var json = rest.copy();
    var brace = new ByteArrayInputStream(new byte[] {'{'});
    var again = parser.getCodec().getFactory().createParser(new SequenceInputStream(brace, new ByteArrayInputStream(json)));
    again.nextToken();
    var schema = (TableSchemaInfo) super.deserialize(again, context);
    all.add(new Kept(json, schema));
    return copyOf(schema);
  }

  /** Changes of a table's schema begin with a change of what was parsed; the elements of its lists never change. */
  private static TableSchemaInfo copyOf(TableSchemaInfo schema) {
    try {
      var copy = new TableSchemaInfo();
      for (var field : FIELDS) field.set(copy, copyOf(field.get(schema)));
      return copy;
    } catch (IllegalAccessException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private static Object copyOf(Object value) {
    if (value instanceof List<?> list) return new ArrayList<>(list);
    return value instanceof Map<?, ?> map ? new HashMap<>(map) : value;
  }

  /** Compares what a parser holds without a copy. */
  private static class Rest extends OutputStream {
    private byte[] bytes = {};
    private int from;
    private int to;

    @Override
    public void write(int single) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void write(byte[] held, int offset, int count) {
      bytes = held;
      from = offset;
      to = offset + count;
    }

    boolean equals(byte[] other) {
      return Arrays.equals(bytes, from, to, other, 0, other.length);
    }

    byte[] copy() {
      return Arrays.copyOfRange(bytes, from, to);
    }
  }
}

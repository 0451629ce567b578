// SQLite's write-ahead log for the file of DynamoDB Local: it syncs the disk once for each change, where the usual journal does
// so four times, and is as durable.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

const CHECKPOINT_MILLISECONDS = 1000;

/** Turns the log on before DynamoDB Local opens the file. The returned function ends it; throws if the file is not SQLite's. */
export function writeAhead(folder: string): () => void {
  const database = new DatabaseSync(join(folder, "shared-local-instance.db"));
  database.exec("PRAGMA journal_mode=WAL");
  // DynamoDB Local commits while it reads, which keeps its own connection from moving the log into the file.
  const timer = setInterval(() => checkpoint(database), CHECKPOINT_MILLISECONDS).unref();
  return () => {
    clearInterval(timer);
    if (database.isOpen) database.close();
  };
}

function checkpoint(database: DatabaseSync): void {
  try {
    database.exec("PRAGMA wal_checkpoint(PASSIVE)"); // without making others wait
  } catch {
    return; // the disk is full: the next one moves what this one could not
  }
}

// The details of the backup that the address names, above the page.
import { useSearchParams } from "react-router";
import { lazily } from "../app/lazily.tsx";

const BackupDetails = lazily(async () => (await import("./details.tsx")).BackupDetails, "backupDialogs", "events");

/** The page below the dialog may have a history, too. */
const HISTORY = "history";

export function ShownDetails() {
  const [search, setSearch] = useSearchParams();
  const id = search.get("backup");
  const close = () =>
    setSearch((before) => {
      const after = new URLSearchParams(before);
      for (const name of before.keys()) if (name === "backup" || name.startsWith(`${HISTORY}-`)) after.delete(name);
      return after;
    });
  return id !== null && <BackupDetails id={id} prefix={HISTORY} onDismiss={close} />;
}

// What the page says before anything is loaded.
import type { start as en } from "../en/start.ts";

export const start: typeof en = {
  loading: {
    before: "Das Dashboard wird geladen. Dauert das lange, die Verbindung prüfen und ",
    link: "die Seite neu laden",
    after: ".",
  },
  notLoaded: {
    title: "Diese Seite konnte nicht geladen werden",
    text: "Das Dashboard wurde aktualisiert, oder die Verbindung ist unterbrochen. Nach dem Neuladen geht es weiter.",
  },
  reload: "Neu laden",
};

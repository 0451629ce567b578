// What the page says before anything is loaded.
import type { start as en } from "../en/start.ts";

export const start: typeof en = {
  loading: {
    before: "Das Dashboard wird geladen. Wenn es lange dauert, prüfen Sie Ihre Verbindung und ",
    link: "laden Sie die Seite neu",
    after: ".",
  },
  notLoaded: {
    title: "Diese Seite konnte nicht geladen werden",
    text: "Das Dashboard wurde aktualisiert oder Ihre Verbindung wurde unterbrochen. Laden Sie die Seite neu, um fortzufahren.",
  },
  reload: "Neu laden",
};

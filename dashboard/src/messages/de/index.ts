// All that the dashboard says, in German. For translators:
// Sentences address the user as "Sie", without "bitte". Buttons and menus have infinitives ("Instanz anlegen"), labels and titles
// have nouns. Quotation marks are „ and “, an ellipsis is …, and a number's unit follows a space. One word for one thing:
//
// abort: verwerfen · account: Konto · action: Aktion · activity: Aktivität · address: Adresse · admin password: Admin-Passwort
// API key: API-Schlüssel · archive: Archiv · backup: Sicherung · back up: sichern · backup policy: Sicherungsplan
// bulk action: Sammelaktion · calendar: Kalender · cancel: abbrechen · certificate: Zertifikat · checksum: Prüfsumme
// clone: Klon, klonen · create: anlegen · database: Datenbank · delete: löschen · DNS record: DNS-Eintrag · domain: Domain
// download: herunterladen · downtime: Ausfallzeit · drill: Wiederherstellungstest · edit: bearbeiten · edition: Edition
// environment: Umgebung · expires: läuft ab · failed: fehlgeschlagen · files: Dateien · filter: Filter · home: Übersicht
// in progress: in Arbeit · instance: Instanz · label: Label · latest, newest: neueste · lock: sperren · machine: Rechner
// manual: manuell · name: Name · neutralize: neutralisieren · note: Notiz · offline: offline · operation: Vorgang
// operator: Betreiber · overdue: überfällig · password: Passwort · pause: pausieren · permission: Berechtigung · policy: Plan
// pre-restore backup: Vorab-Sicherung · protected, protection: geschützt, Schutz · provider: Anbieter · provision: bereitstellen
// quota: Kontingent · region: Region · restore: wiederherstellen, Wiederherstellung · restart: neu starten
// retention: Aufbewahrung · retry: erneut versuchen · revoke: widerrufen · sandbox: Sandbox · schedule: Zeitplan
// scheduled: geplant · search: suchen · server: Server · settings: Einstellungen · sign in, sign out: anmelden, abmelden
// size: Größe · SSH key: SSH-Schlüssel · start, stop: starten, stoppen · status: Status · step: Schritt · support: Support
// throwaway database: temporäre Datenbank · time zone: Zeitzone · undo: rückgängig machen · unprotected: ungeschützt
// update: ändern · upload: hochladen, Upload · user: Benutzer · version: Version · view: anzeigen
import type { en } from "../en/index.ts";
import { app } from "./app.tsx";
import { operations } from "./operations.tsx";
import { resource } from "./resource.tsx";
import { shell } from "./shell.tsx";

export const de: typeof en = { app, operations, resource, shell };

// What the API says by a code, with its parameters in braces.
import type { SentenceCode } from "../../../../shared/domain/sentences.ts";

export const sentences: Readonly<Record<SentenceCode, string>> = {
  server_deleted: "Löscht die Maschine beim Anbieter und den Eintrag",
  server_record_deleted: "Löscht den Eintrag; es gibt keine Maschine dazu",
  archive_read: "Liest das Archiv; die Sicherung kann erst nach dem Ende des Vorgangs gelöscht werden",
  archive_downloaded:
    "Lädt das Archiv ({archive_bytes}) einmal auf den Server; die Sicherung kann erst nach dem Ende des Vorgangs gelöscht werden",
  disk_low:
    "Wenig Speicherplatz: Auf dem Server {server_name} waren am {reported_at} noch {free_bytes} frei. Löschen Sie dort nicht mehr benötigte Instanzen, oder verwenden Sie einen anderen Server",
  disk_low_afterwards:
    "Wenig Speicherplatz: Hierfür werden mindestens {needed_bytes} benötigt, und auf dem Server {server_name} waren am {reported_at} noch {free_bytes} frei. Löschen Sie dort nicht mehr benötigte Instanzen, oder verwenden Sie einen anderen Server",
  memory_low:
    "Zu wenig Arbeitsspeicher: Mit dieser hat der Server {server_name} {instance_count} Instanzen, die je {needed_mb} MB benötigen, und {memory_gb} GB Arbeitsspeicher. Verwenden Sie einen anderen Server",
  erp_installed:
    "Installiert das ERP {erp_version} ({edition}) auf dem Server {server_id} mit der Datenbank {database_name}, unter https://{domain}",
  erp_installed_from_backup:
    "Installiert das ERP {erp_version} ({edition}) auf dem Server {server_id} mit der Datenbank {database_name}, unter https://{domain}, mit Datenbank und Dateien der Sicherung",
  erp_installed_from_database:
    "Installiert das ERP {erp_version} ({edition}) auf dem Server {server_id} mit der Datenbank {database_name}, unter https://{domain}, mit der Datenbank der Sicherung",
  erp_installed_from_files:
    "Installiert das ERP {erp_version} ({edition}) auf dem Server {server_id} mit der Datenbank {database_name}, unter https://{domain}, mit den Dateien der Sicherung",
  clone_installed_from_backup:
    "Installiert das ERP {erp_version} ({edition}) auf dem Server {server_id} mit einer nach ihm benannten Datenbank, unter https://{domain}, mit Datenbank und Dateien der Sicherung",
  clone_installed_from_database:
    "Installiert das ERP {erp_version} ({edition}) auf dem Server {server_id} mit einer nach ihm benannten Datenbank, unter https://{domain}, mit der Datenbank der Sicherung",
  clone_installed_from_files:
    "Installiert das ERP {erp_version} ({edition}) auf dem Server {server_id} mit einer nach ihm benannten Datenbank, unter https://{domain}, mit den Dateien der Sicherung",
  backups_scheduled: "Sichert die Instanz nach dem Zeitplan {schedule} ({timezone})",
  backups_paused: "Erstellt keine Sicherungen nach Zeitplan",
  backup_drilled:
    "Stellt die Sicherung in einer temporären Datenbank auf dem Server wieder her, prüft sie und entfernt danach alles; keine Instanz wird unterbrochen",
  drills_daily: "Testet jeden Tag die Wiederherstellung der neuesten abgeschlossenen Sicherung",
  drills_scheduled: "Testet alle {days} Tage die Wiederherstellung der neuesten abgeschlossenen Sicherung",
  drills_daily_download:
    "Testet jeden Tag die Wiederherstellung der neuesten abgeschlossenen Sicherung; jeder Test lädt ihr Archiv auf den Server, derzeit {archive_bytes}",
  drills_scheduled_download:
    "Testet alle {days} Tage die Wiederherstellung der neuesten abgeschlossenen Sicherung; jeder Test lädt ihr Archiv auf den Server, derzeit {archive_bytes}",
  backup_due: "Erstellt eine Sicherung, sobald die Instanz verfügbar ist",
  upload_not_neutralized:
    "Die Instanz wird nicht neutralisiert: Ihre geplanten Aktionen, E-Mails und Zahlungen laufen ab jetzt hier; stoppen Sie zuerst das Original",
  clone_not_neutralized:
    "Der Klon wird nicht neutralisiert: Seine geplanten Aktionen, E-Mails und Zahlungen laufen wie die des Originals",
  files_missing:
    "{missing_files} der Dateien, die in der Datenbank der Sicherung stehen, fehlen in ihr und lassen sich in der neuen Instanz nicht öffnen",
  modules_missing:
    "Diese installierten Module fehlen im Image des ERP und im Code der Instanz oder sind dort älter: {modules}. Was sie leisten, fehlt dann auch, und das ERP startet vielleicht nicht",
  copy_code: "Übernimmt den Code der Sicherung: {url} mit {ref}, Commit {commit}",
  copy_without_secrets: "Lässt die geheimen Variablen des Codes weg, weil die Kopie neutralisiert wird",
  restore_code_added: "Das ERP behält den Code, den es jetzt hat; die Sicherung entstand ohne {code}",
  restore_code_differs: "Die Sicherung entstand mit anderem Code ({code}); das ERP behält den, den es jetzt hat",
  copy_neutralized: "Neutralisiert die Kopie: Geplante Aktionen, E-Mails und Zahlungen werden abgeschaltet",
  copy_users_reset:
    "Setzt die Benutzer der Kopie zurück: Passwörter, Sitzungen und API-Schlüssel gelten nicht mehr, außer dem neuen Passwort des Administrators",
  all_replaced: "Ersetzt Datenbank und Dateien durch die der Sicherung",
  all_replaced_neutralized: "Ersetzt Datenbank und Dateien durch die der Sicherung und neutralisiert die Datenbank",
  database_replaced: "Ersetzt die Datenbank durch die der Sicherung",
  database_replaced_neutralized: "Ersetzt die Datenbank durch die der Sicherung und neutralisiert sie",
  files_replaced: "Fügt die Dateien der Sicherung zu den vorhandenen hinzu und ersetzt gleichnamige",
  safety_backup_taken: "Erstellt eine Sicherung der jetzigen Daten, während das ERP gestoppt ist",
  data_not_recoverable: "Ohne vorherige Sicherung lassen sich die jetzigen Daten nicht wiederherstellen",
  files_not_recoverable: "Ohne vorherige Sicherung lassen sich die ersetzten Dateien nicht wiederherstellen",
  server_rebooted: "Startet die Maschine neu, sobald auf ihren Instanzen nichts anderes läuft",
  server_packages_updated:
    "Installiert die Aktualisierungen der Pakete des Betriebssystems, sobald auf den Instanzen nichts anderes läuft",
  server_proxy_updated:
    "Erneuert das Image des Proxys, wenn es ein neueres seiner Hauptversion gibt: Dann antwortet einige Sekunden lang keine Instanz",
  erp_away_for_reboot: "{name} antwortet vom Neustart an nicht, bis es wieder gestartet ist",
  erp_away_for_update:
    "{name} startet neu, wenn es für den Datenbankserver ein neueres Image derselben Hauptversion gibt; eine Instanz nach der anderen",
  erp_updated_at_start: "{name} bekommt das neueste Image seines Datenbankservers beim nächsten Start",
  server_work_waits:
    "Zuerst enden die Vorgänge auf Instanzen des Servers; nach 30 Minuten Warten auf sie schlägt dieser Vorgang fehl",
  deploy_ref: "Bringt {url} ({ref}) ins ERP; der neueste Commit wird dabei ermittelt",
  deploy_commit: "Bringt {url} ({ref}) ins ERP; der neueste Commit war bei der letzten Prüfung {commit}",
  deploy_modules_changed:
    "Aktualisiert die Module, deren Dateien sich geändert haben; welche, ist bekannt, sobald der Code geholt ist",
  deploy_modules_found:
    "Aktualisiert diese Module, soweit sie installiert sind, weil sich ihre Dateien seit dem letzten Deployment geändert haben, nach der letzten Prüfung: {modules}",
  deploy_modules_unchanged:
    "Aktualisiert keine Module, außer eine Wiederherstellung hat Daten anderen Codes zurückgebracht: Nach der letzten Prüfung hat sich seit dem letzten Deployment keine Datei geändert",
  deploy_modules_all: "Aktualisiert alle Module des Codes",
  deploy_modules_named: "Aktualisiert diese Module: {modules}",
  deploy_modules_installed: "Installiert diese Module, soweit sie nicht installiert sind: {modules}",
  deploy_packages: "Installiert diese Python-Pakete: {packages}",
  deploy_image_back: "Gibt dem ERP das Image zurück, das es mit diesem Deploy hatte",
  deploy_image:
    "Gibt dem ERP und seinem Datenbankserver die neuesten Images derselben Versionen und aktualisiert mit ihnen alle Module",
  deploy_enterprise_stays:
    "Die Module der Enterprise-Edition bleiben auf dem Server, wie sie sind: Ein Image bringt keine anderen mit",
  deploy_rehearsed:
    "Probiert den neuen Code und die Aktualisierung zuerst auf einer Kopie der Datenbank aus; schlägt das fehl, bleibt das ERP, wie es ist",
  deploy_backup: "Erstellt eine Sicherung, bevor das ERP stoppt",
  deploy_not_rehearsed:
    "Ohne Probe unterbrechen fehlerhafter Code oder eine fehlgeschlagene Aktualisierung das ERP, bis alles zurückgesetzt ist",
  deploy_without_backup:
    "Ohne vorherige Sicherung geht beim Zurückgehen auf die früheren Daten verloren, was nach dem Deployment eingegeben wurde",
  deploy_no_code: "Die Instanz hat keine Repositorys: Das ERP läuft danach ohne eigene Module",
  deploy_rolled_back: "Bringt die Commits des Deployments {deploy} noch einmal ins ERP",
  deploy_data_restored: "Ersetzt Datenbank und Dateien durch die von {since}, aus der Sicherung {backup}",
  deploy_modules_may_be_missing:
    "Dem Code jenes Deployments fehlen vielleicht diese installierten Module: {modules}. Dann schlägt das Deployment fehl, bevor das ERP stoppt",
  deploy_data_lost: "{duration} an Änderungen gehen verloren: alles seit {since}",
  deploy_data_lost_since_backup: "Alle Änderungen seit der Sicherung, aus der die Daten zurückkommen, gehen verloren",
  erp_started: "Startet das ERP",
  erp_stopped: "Stoppt das ERP, bis Sie es wieder starten",
  erp_restarted: "Stoppt das ERP und startet es wieder",
  backup_taken: "Archiviert Datenbank und Dateien; der Status des ERP bleibt, wie er ist",
  nothing_changed: "Ändert nichts",
  name_changed: "Ändert den Namen von {before} zu {after}",
  admin_email_changed: "Ändert die Admin-E-Mail von {before} zu {after}",
  domain_changed: "Ändert die Domain von {before} zu {after}",
  name_set: "Ändert den Namen zu {after}",
  admin_email_set: "Ändert die Admin-E-Mail zu {after}",
  domain_set: "Ändert die Domain zu {after}",
  labels_changed: "Ändert die Labels",
  disk_quota_set: "Setzt das Speicherkontingent auf {quota_bytes}",
  disk_quota_removed: "Entfernt das Speicherkontingent",
  domain_redirects:
    "{before} leitet {days} Tage lang auf {after} um, solange der DNS-Eintrag auf den Server zeigt. Auch {after} benötigt einen solchen Eintrag",
  old_domain_redirects:
    "Die alte Domain leitet {days} Tage lang auf {after} um, solange ihr DNS-Eintrag auf den Server zeigt. Auch {after} benötigt einen solchen Eintrag",
  redirect_ended: "{domain} leitet nicht mehr auf diese Instanz um",
  erp_deleted: "Entfernt das ERP mit Datenbank und Dateien vom Server, und den Eintrag; Sicherungen bleiben",
  erp_deleted_later:
    "Entfernt den Eintrag sofort, weil der Server nicht aktiv ist, und das ERP, sobald der Server wieder antwortet; Sicherungen bleiben",
  policy_deleted: "Löscht den Sicherungsplan",
  waiting_backup_deleted: "Entfernt die planmäßige Sicherung, die noch wartet",
  unsaved_not_recoverable: "Was in keiner abgeschlossenen Sicherung ist, lässt sich nicht wiederherstellen",
  no_backup_left: "Die Instanz hat keine abgeschlossene Sicherung; ihre Daten lassen sich nicht wiederherstellen",
  backup_deleted: "Löscht das Archiv und den Eintrag",
  its_backups_deleted: "Löscht die Sicherungen der Instanz, außer gesperrten und solchen, die gebraucht werden",
  backups_deleted: "Löscht {backup_count} ihrer Sicherungen",
  last_backup: "Es ist die letzte abgeschlossene Sicherung der Instanz",
  backup_not_kept: "Keine Regel behält die planmäßige Sicherung vom {due_at}; sie wird nach dem nächsten Lauf entfernt",
  some_backup_not_kept: "Keine Regel behält eine der planmäßigen Sicherungen; sie wird nach dem nächsten Lauf entfernt",
  days_match_either:
    "Der Zeitplan gilt an Tagen, die auf den Monatstag ({day}) oder den Wochentag ({weekday}) passen, nicht nur an denen, die auf beide passen, wie bei cron",
  days_match_both:
    "Der Zeitplan gilt nur an Tagen, die sowohl auf den Monatstag ({day}) als auch auf den Wochentag ({weekday}) passen, weil eines dieser Felder mit * beginnt, wie bei cron",
  backup_locked: "Sperrt die Sicherung, sodass niemand sie löschen kann",
  backup_unlocked: "Entsperrt die Sicherung",
  bulk_not_now: "{name} bleibt unverändert: {why}",
  bulk_no_backup_left:
    "Von {names} bleibt keine abgeschlossene Sicherung übrig, sodass die Daten nicht wiederhergestellt werden können",
  bulk_never_installed: "Auf {names} wurde das ERP nie installiert, sodass es dort nicht gesichert wird",
  bulk_waits: "Wartet auf andere Vorgänge an {names}, bis zu {minutes} Minuten lang",
  bulk_waits_for_server: "Wartet auf Vorgänge am Server von {names}, bis zu {minutes} Minuten lang",
  bulk_policy_replaced: "Ersetzt den jetzigen Sicherungsplan von {names}",
  bulk_quotas: "Die Kontingente des Kontos reichen für {room_count} der {backup_count} Sicherungen; die anderen schlagen fehl",
  bulk_quotas_short: "Die Kontingente des Kontos reichen nicht für alle Sicherungen; die anderen schlagen fehl",
  never_installed: "Das ERP wurde auf dieser Instanz nie installiert, daher wird sie nicht gesichert",
};

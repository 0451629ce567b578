// The limits that docs/api.md promises, with their units.

/** The window over which requests are counted. */
export const WINDOW_SECONDS = 60;

/** Requests of one credential in any window: on all endpoints, and of those creations and deletions. */
export const REQUEST_LIMITS = { all: 100, create_delete: 20 } as const;

/** Requests of one credential that may wait at the same time (`?wait=`): each keeps a function busy. */
export const WAITS_AT_ONCE = 3;
/** The time after its wait until a request's slot expires, if not released: longer than a function takes to start and respond. */
export const WAIT_GRACE_SECONDS = 8;

/**
 * The pause before each further check of a waiting request: short at first, because most operations are short, then longer.
 * 20 seconds are 15 looks (250 ms, half as much again each time, from 2 s on the same) instead of the 81 of one every 250 ms:
 * at 0.15 USD per million strongly consistent reads 2 USD per million waits instead of 12. The rest of a wait's price is the
 * function itself: 20 s of half a gigabyte at 0.0000133334 USD are 133 USD per million, which is why waits are counted.
 */
export const pauseBeforePoll = (polls: number): number => Math.min(250 * 1.5 ** (polls - 1), 2_000);

/** Records of a page of a list. */
export const PER_PAGE_MAX = 100;

/** Up to here a list that is filtered by label or search, or by several filters, counts its records. */
export const LISTED_MAX = 10_000;

/** Labels of a server, an instance or a backup, and the characters of a label's value. */
export const LABELS_MAX = 16;
/**
 * Labels, and filters at the price of labels, of one query: of the 200 read units that a page may cost at 10,000 records, 137 are
 * of the entries, 20 of the page, and 7 of each of these.
 */
export const LABELS_PER_QUERY = 6;
export const LABEL_CHARACTERS = 63;
/** All labels of one resource, keys and values together, in UTF-8. */
export const LABELS_BYTES_MAX = 1_024;

export const BODY_BYTES_MAX = 64 * 1024;

/** Failed sign-ins in `LOGIN_WINDOW_SECONDS`: for one email from one IP address, and from one IP address in total. */
export const LOGIN_FAILURES = { pair: 10, address: 50 } as const;
export const LOGIN_WINDOW_SECONDS = 15 * 60;

export const SESSION_HOURS = 12;
/** The operator may set fewer. With more, each request of the user would write two units (docs/scale.md). */
export const SESSIONS_PER_USER = 20;

/** Invitations: how long a link is valid, and how many an account sends in a day. */
export const INVITATION = { days: 7, perDay: 30, windowSeconds: 24 * 3600 } as const;
/** Links to set a new password: how long one is valid, and how many an address is sent in an hour. */
export const PASSWORD_RESET = { minutes: 30, perHour: 3, windowSeconds: 3600 } as const;

/** Second factors: what a user may have, and how long a challenge, a proof and the secret of a set-up last. */
export const SECOND_FACTORS = {
  passkeys: 10,
  recoveryCodes: 10,
  challengeMinutes: 5,
  tries: 5,
  proofMinutes: 15,
  setUpMinutes: 10,
} as const;

/** Single sign-on: what an account may set, and how long a sign-in and a domain without its TXT record last. */
export const SSO = { domains: 10, roles: 50, stateMinutes: 10, unseenDays: 7 } as const;

/** Networks of an API token, or from which an account signs in. */
export const ALLOWED_IPS_MAX = 10;

export const IDEMPOTENCY_HOURS = 24;
/** How long events and ended operations are kept: a year and the time to look back at it. */
export const HISTORY_DAYS = 400;
export const DOWNLOAD_MINUTES = 15;

/** Archives that are moved in. S3 takes 10,000 parts of at least 5 MiB. */
export const UPLOAD = {
  bytesMax: 500_000_000_000,
  /** A sandbox reads an archive in one piece. */
  testBytesMax: 64 * 1024 * 1024,
  partBytes: 64 * 1024 * 1024,
  /** Parts of one request for addresses. */
  partsAtOnce: 100,
  addressMinutes: 60,
  days: 7,
  /** How long the archive of an import is kept that failed for another reason than the archive. */
  failedImportDays: 7,
  /** Unfinished ones of an account. */
  atOnce: 3,
} as const;

/** The default quotas of an account; the operator can change them. `backup_bytes` are those of all backups and uploads. */
export const DEFAULT_QUOTAS = {
  server: 10,
  instance: 100,
  token: 100,
  ssh_key: 100,
  user: 100,
  backup: 10_000,
  backup_bytes: 2_000_000_000_000,
  webhook: 20,
} as const;
export type QuotaKind = keyof typeof DEFAULT_QUOTAS;

/** A scheduled backup starts within 15 minutes: up to 8 by instance, and the rest is for the sweep to start what was not. */
export const SPREAD_MINUTES = 8;
/** Scheduled backups that run on one server at a time. */
export const SCHEDULED_AT_ONCE = 2;
/** How long a run is retried while its instance or its server is not available. */
export const HELD_MINUTES = 60;
/** A run that fails is repeated once after this time. */
export const REPEAT_MINUTES = 15;
/** A policy's drill that could not be held is tried again after this time. */
export const DRILL_AGAIN_HOURS = 24;
/** An instance is overdue this long after a run that brought no backup was due. */
export const OVERDUE_MINUTES = 120;
/** How long failed scheduled backups are kept. */
export const FAILED_BACKUP_DAYS = 30;

/** A server is offline after this many failed probes in a row, one a minute. */
export const FAILED_PROBES_MAX = 5;

/**
 * An ERP is down after so many failed looks in a row, and is restarted after so many. There is one a minute, and a second one at
 * the first failure.
 */
export const MISSES = { down: 3, restart: 5 } as const;
/** Restarts of an instance in 24 hours that the service begins by itself. */
export const RESTARTS_A_DAY = 3;
/** A machine's line is written once a minute, and may be read just before that. */
export const STALE_SECONDS = 150;

/**
 * The code of an instance. `repositories` is the default quota; the operator may set up to `repositoriesMax`, each of which may
 * need a deploy key: one transaction writes them all.
 */
export const CODE = { repositories: 20, repositoriesMax: 25, packagesMax: 100, modulesMax: 100, variablesMax: 50 } as const;
/** Deploys: how many of an instance are kept, what is kept of a log, and how long one waits to rehearse. */
export const DEPLOY = { recordsMax: 20, logBytes: 8_192, logLines: 40, rehearsalWaitMinutes: 30 } as const;
/** Pushes to the hook of an instance: how many in a minute, how large one may be, and how long one is tried. */
export const PUSH = { perMinute: 10, bodyBytes: 5 * 1024 * 1024, triedMinutes: 60 } as const;

/**
 * Bulk actions: how many an account has in progress, how much one selects and does at a time, and how long it tries and lasts.
 */
export const BULK = {
  open: 3,
  selected: 1_000,
  atOnce: 10,
  perServer: 2,
  /** Deletions per minute by all bulk actions of an account. */
  deletionsPerMinute: 20,
  /** How long a resource is tried that another operation holds. */
  heldMinutes: 60,
  /** The time after which nothing more begins. */
  hours: 48,
  /** How long what has begun by then may take: longer than a drill or a deploy. */
  lastHours: 12,
} as const;

/** How long a machine redirects a domain that an instance no longer has, and how many of one instance. */
export const REDIRECT_DAYS = 90;
export const PREVIOUS_DOMAINS_MAX = 5;

/** How long an API token works after its rotation. */
/** How long an account may let its API tokens live. */
export const TOKEN_DAYS_MAX = 730;
export const TOKEN_OVERLAP_HOURS = { usual: 24, max: 168 } as const;
/** Reading the logs of an instance. */
export const LOG_READS = {
  aMinute: 10,
  atOnce: 2,
  lines: 200,
  linesMax: 2_000,
  searchCharacters: 200,
  bytesMax: 1_000_000,
  /** How long a request waits for the server. */
  seconds: 3,
} as const;

/** The most loaded servers and instances: how many are shown, and on how many servers their instances are compared. */
export const WORST = { rows: 10, servers: 100 } as const;

/** Backups that the overview of the last nights has at most: those of seven nights of 400 instances. */
export const NIGHTS_BACKUPS_MAX = 3_000;

/** What the jobs of an operation have logged. */
export const WORK_LOG = { bytesMax: 1_000_000, days: 90 } as const;

/** Deliveries of events to webhooks. */
export const WEBHOOK = {
  timeoutSeconds: 10,
  /** The pause before each further try, ± 20 %: ten tries in 76 hours. */
  retrySeconds: [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400],
  /** A receiver's `Retry-After` is obeyed up to here. */
  retryAfterMaxSeconds: 3_600,
  /** A webhook that has only failed for so long is disabled. */
  failingDays: 5,
  rotationHours: 24,
  testsAMinute: 6,
  /** Requests per second of an account to one host. */
  requestsASecond: 10,
  deliveryDays: 30,
  /** How much of a delivery's last response is kept. */
  excerptBytes: 4_096,
  listedMax: 10_000,
  redeliveredMax: 1_000,
  /** What a run reads of a queue at a time. */
  queueRead: 100,
} as const;

/** Work on a server's own machine: how long it waits for what runs on its instances, and how long all of their databases take. */
export const SERVER_WORK = { quietMinutes: 30, databasesMinutes: 240 } as const;

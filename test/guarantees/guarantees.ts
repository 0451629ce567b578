// What the service guarantees, in its customers' words, and how each guarantee is attacked. docs/guarantees.md, `npm run prove`
// and `npm test` read this table.

export interface Guarantee {
  title: string;
  /** The promise to a customer. */
  promise: string;
  /** The proof for an engineer. */
  proof: string;
  /** Trials of `npm run prove`, and of a run of all tests. */
  full: number;
  small: number;
  /** Trials a second on a core that has nothing else to do, measured: how long the full size takes. */
  perSecond: number;
  /** Measures time, so it runs alone. */
  alone?: true;
}

const guarantee = <const G extends Guarantee>(row: G) => row;

export const guarantees = {
  "crash-safety": guarantee({
    title: "Crash safety",
    promise:
      "Whatever crashes, whenever: every operation ends, as a success or as a failure that is undone. No server runs that your account doesn't show, none is paid for twice, nothing stays locked, and no total is wrong.",
    proof:
      "Every workflow runs from every state that it may start in. Each of its tasks, polls and undos is cut off: by a crash, an error, a time-out or a stopped execution, before and after its work; by killing its process at one of its calls; by losing its response; and by running it twice at once, again after the end, or late. Then the table, the machines and the object store must agree, item for item.",
    full: 10_000,
    small: 3,
    perSecond: 2,
  }),
  undo: guarantee({
    title: "Undo",
    promise:
      "What an operation has done before it failed is undone, even if the undo itself fails at first. If the cause stays, the operation says so, the operators are alerted, and you can still delete the resource.",
    proof:
      "Every undo of every workflow fails its first tries: as often as the first execution tries it, so that a second execution takes over, or for good. It does its work before it fails, or not.",
    full: 2_000,
    small: 3,
    perSecond: 1.5,
  }),
  "one-winner": guarantee({
    title: "One winner",
    promise:
      "Of requests that exclude each other exactly one succeeds, however many arrive at once, and the errors of the others name the operation that won. If the service is too busy to decide, the response is a 503, and a retry gets that error.",
    proof:
      "50 requests at once, for every pair of requests that lock the same resource in every status that allows both, found in the tables of routes and states; 50 creations that take the same unique name or domain; and 50 requests of which some use a resource and the others take it away.",
    full: 1_040,
    small: 3,
    perSecond: 3,
  }),
  idempotency: guarantee({
    title: "Idempotency",
    promise:
      "A request that is retried with its `Idempotency-Key` has one effect and one response (presigned addresses are signed anew), and no success is reported for what is then withdrawn.",
    proof:
      "Every POST that takes a key: 20 requests at once, retries while the workflow engine is down and comes back, another body, another credential, and the function killed at each of its calls, before or after the call takes effect. Each effect is counted in the table and must equal that of one plain request.",
    full: 1_000,
    small: 2,
    perSecond: 1.5,
  }),
  limits: guarantee({
    title: "Limits",
    promise:
      "In any 60 seconds a credential makes at most 100 requests, and 20 that create or delete. No request below the limits is rejected, and `Retry-After` and `X-RateLimit-*` are right.",
    proof:
      "Bursts of 50 requests at the authorizer, of tokens and of users, with a clock that is driven to the edges of the window, against a list of what has passed; and bursts over HTTP. A trial is a request.",
    full: 2_120,
    small: 2,
    perSecond: 1,
  }),
  revocation: guarantee({
    title: "Revocation",
    promise:
      "Once the service has confirmed that a token is deleted or replaced, a session ended, a password or a role changed or a user removed, no request with the old credential, or beyond the new role, is accepted.",
    proof:
      "Eight clients use a credential without a pause, or sign in with a password, while it is ended, at a random moment. Every request that is sent after the response must get 401, or 403 if it is beyond the new role, also with a session that was opened meanwhile; a 503 decides nothing, and the request is sent again.",
    full: 10_000,
    small: 4,
    perSecond: 2.5,
  }),
  "jwt-and-tokens": guarantee({
    title: "Forged credentials",
    promise: "Only credentials that the service has issued, unchanged, for this environment and not expired, are accepted.",
    proof:
      "Some 60 kinds of forgery (no algorithm, another one, headers that name a key, empty and foreign signatures, missing and wrong claims, other environments), signed with the real key where that helps, and single bits of real credentials flipped. A flipped bit is a trial.",
    full: 1_000,
    small: 124,
    perSecond: 15,
  }),
  "second-factors": guarantee({
    title: "Second factors",
    promise:
      "Without your own passkey, app or recovery code nobody signs in as you, or proves to be you, whatever they have seen, kept, changed or mixed.",
    proof:
      "Whoever knows the password presents a challenge that is changed in one character, of another user, purpose or session, from before a change of the password, or met already; a passkey's assertion that is changed in one character of any of its parts, for another challenge, of another user or already used; and codes that are changed, of another user, too old or already used. Each gets the same 401; afterwards the right proof of the same user is accepted.",
    full: 10_000,
    small: 20,
    perSecond: 8,
  }),
  "single-sign-on": guarantee({
    title: "Single sign-on",
    promise:
      "Nobody signs in with single sign-on but the person whom the account's own provider has just named to the browser tab that asked.",
    proof:
      "States, codes, tabs' secrets and ID tokens are changed in one character of any of their parts, taken from another sign-in, used twice or said to be another provider's. Each gets the same 401, and no session; afterwards the right response of the same tab signs in.",
    full: 10_000,
    small: 20,
    perSecond: 10,
  }),
  enumeration: guarantee({
    title: "Emails of users",
    promise: "Nobody who does not know your password learns whether there is a user with your email.",
    proof:
      "A user's email and one of nobody, as long, sent to every endpoint that takes one from whoever is not of the account: with a wrong password, for a link to set a new one, for single sign-on, where that is required, and as an invitation of another account. The responses must be equal byte for byte (of random values, in length), with the same calls of the database; at full size, the medians of 500 interleaved tries of each must be within 5 %. Two requests for links at once must not write the same item.",
    full: 8,
    small: 8,
    perSecond: 0.05,
    alone: true,
  }),
  "mail-bombs": guarantee({
    title: "Mail bombs",
    promise:
      "Nobody can have the service send you more than three links an hour to set a password, and no account more than 30 invitations a day.",
    proof:
      "Links are asked for in bursts, from many addresses, in every spelling of the email; people are invited, and invitations sent again, by several admins at once. The mails are counted. A request is a trial.",
    full: 60,
    small: 2,
    perSecond: 1,
  }),
  permissions: guarantee({
    title: "Permissions",
    promise:
      "A token does what its permissions allow and nothing else, a session what its user's role allows, and the error names the missing permission or role. Every endpoint declares who may use it.",
    proof:
      "Every permission alone, none, all but those needed, exactly those needed, and every role, on every endpoint and every kind of action; and the deployed API against the table of routes.",
    full: 1_600,
    small: 120,
    perSecond: 50,
  }),
  "bad-requests": guarantee({
    title: "Bad requests",
    promise:
      "Whatever a client sends, the response is a clear error in the documented form, never a failure of the service, and a request that fails changes nothing.",
    proof:
      "Generated paths, queries, headers and bodies at every endpoint, valid ones with damage first of all, about what exists and what does not, and bytes at the bare socket. A request is a trial.",
    full: 5_600,
    small: 12,
    perSecond: 6,
  }),
  tenants: guarantee({
    title: "Tenants",
    promise: "Nobody learns anything about another account, not even whether an ID exists.",
    proof:
      "Another account's IDs in every position that takes one: paths, bodies, filters, cursors. Responses must equal those to an unused ID byte for byte, with the same calls of the database; at full size, the medians of 500 interleaved tries of each must be within 5 %.",
    full: 70,
    small: 10,
    perSecond: 0.1,
    alone: true,
  }),
  "tenants-live": guarantee({
    title: "Tenants, live",
    promise: "The same in the environment `live`, which has other tables, keys and endpoints.",
    proof: "As above, on a deployment of `live`.",
    full: 70,
    small: 10,
    perSecond: 0.1,
    alone: true,
  }),
  "counters-and-order": guarantee({
    title: "Counters and order",
    promise:
      "Changes that run at the same time don't overwrite each other, totals are exact once writes have settled, and walking a list by cursor misses nothing that was there all the time.",
    proof:
      "Concurrent writers increase a number by compare-and-set, while others create, rename and delete, and a reader walks a list, from either end: the number must equal the successes, every total and every number of the overview a recount of all records, what lists are searched by must be what the records say, and the walk must be complete, ordered and without repetition.",
    full: 1_000,
    small: 2,
    perSecond: 1,
  }),
  secrets: guarantee({
    title: "Secrets",
    promise: "No password, token or key is stored or logged in plain text, not even one that was sent to the wrong place.",
    proof:
      "Every secret that a run issues or receives, in five encodings, searched for in every item of the table, every object with the contents of archives, all logs, and the inputs, outputs and errors of all executions (the machines' process lists and files: Hosts). A secret in a place is a trial.",
    full: 100,
    small: 1,
    perSecond: 0.3,
  }),
  webhooks: guarantee({
    title: "Webhooks",
    promise:
      "Every event that a webhook subscribes to arrives at a receiver that takes it, also after a crash, always with the same ID and the same bytes, and none arrives of what has not happened. A receiver that does not respond delays no other, and no webhook leads to a private address.",
    proof:
      "The functions that record and send deliveries are killed at each of their calls, before or after the call takes effect: the event must arrive, and nothing that the list of events doesn't have; only trials in which a function was killed are counted. Eight events beside a receiver that never responds. And random private addresses in every notation that URLs allow, inside IPv6 addresses, and behind names that change between the check and the connection.",
    full: 1_100,
    small: 14,
    perSecond: 1.2,
  }),
  durability: guarantee({
    title: "Durability on one machine",
    promise:
      "Once the service has responded, what it has confirmed survives a crash of the service, of its database, or of both, and operations that were running go on.",
    proof:
      "SIGKILL at a random moment while four clients create and delete; after the next start, everything that was confirmed must be there, and every operation must end.",
    full: 500,
    small: 1,
    perSecond: 0.12,
  }),
  hosts: guarantee({
    title: "Hosts",
    promise:
      "Whatever the code in an instance does to its files, a backup or restore never reads or changes anything else on the server, and every honest file comes back bit by bit.",
    proof:
      "Trees with links to the machine's files, devices, sockets, pipes, names of every byte and of 255 bytes, sparse files and files that grow meanwhile, backed up, then cloned, restored, or restored and put back over another hostile tree, by the real scripts on a test machine; some ERPs tamper with what has been built before it is swapped in. In one trial of ten, a job gets a password, which must be in no process list and no file.",
    full: 1_112,
    small: 1,
    perSecond: 0.3,
  }),
  backups: guarantee({
    title: "Backups",
    promise: "A damaged archive is rejected before anything of the instance is touched.",
    proof:
      "Archives that are cut, emptied, swapped, doubled or have a bit flipped in any region, from storage that reports the damage and from storage that lies about size and checksum, restored by the real scripts on a test machine.",
    full: 2_000,
    small: 1,
    perSecond: 0.5,
  }),
  connections: guarantee({
    title: "Connections to servers",
    promise:
      "A connection to a server that breaks, hangs, is slow or loses a response costs time and nothing else: the work there is done, and its result is right.",
    proof:
      "Backups and restores by the real scripts on a test machine, whose connection is cut, goes silent, slows down or loses a response after any number of bytes.",
    full: 500,
    small: 1,
    perSecond: 0.2,
  }),
  dependencies: guarantee({
    title: "Dependencies",
    promise:
      "When a part of the cloud fails, hangs, is slow or loses a response, you get an error in the documented form, in time, that you can retry, and nothing is half done.",
    proof:
      "Every call of DynamoDB, Step Functions, S3 and Secrets Manager of every endpoint, and every service that a workflow calls: disconnected, silent, slow, throttled, in conflict, 5xx, response lost, delivered twice, once or from then on; and indexes that lag. Then locks, markers, totals and search entries must agree with the records. Only trials in which a call was hit are counted.",
    full: 14_000,
    small: 6,
    perSecond: 2,
  }),
  contract: guarantee({
    title: "Contract",
    promise: "Every response is what the API description says, errors too.",
    proof:
      "The client of all tests validates every response against openapi.json, so every other guarantee proves this one as well; here, every endpoint with valid requests and with every kind of error. Spectral, Redocly, cdk-nag and AWS's schemas of resources check the description and the templates in `npm test`.",
    full: 5_000,
    small: 20,
    perSecond: 20,
  }),
  model: guarantee({
    title: "Model",
    promise:
      "Whatever the order of your requests, each is accepted or rejected as the documentation of the statuses says, and leads to the status that it names.",
    proof:
      "Random sequences of requests, some of them racing in an order that a scheduler chooses, some with work that fails, against a model of a few lines: resources and their work, labels, locks, backup policies, SSH keys, tokens and settings, and every list, filter by label and total. Every transition of the lifecycle must be taken, from every status and to both ends. A counterexample is shrunk and printed as curl lines. A sequence is a trial.",
    full: 3_150,
    small: 1,
    perSecond: 0.25,
  }),
  logs: guarantee({
    title: "Secrets in logs",
    promise:
      "A log, and the error of a failed operation, show no password, token, session or signed address that can be recognized as one, and none that the service knows, whoever wrote it there and however.",
    proof:
      "Random secrets in each form in which they get into logs, in the logs of the ERP, its database, its proxy and an operation, and in those of jobs that fail, among control characters, markup, quotes and lines that are as long as the place where lines are cut. The machine's real script must remove each, and the service must remove it again from what a machine sends that has not. Not even a part of one may be left. Twenty messages are written at once, and each counts.",
    full: 400,
    small: 8,
    perSecond: 2.3,
  }),
  providers: guarantee({
    title: "Rented machines",
    promise:
      "No extra machine is bought at an infrastructure provider, and none is left behind, whatever the provider's API does meanwhile.",
    proof:
      "Creations and deletions at each provider that machines are rented from, as its API description has them, while half of the orders and one in eight of the other requests fail, hang, get lost or come back as nonsense, machines vanish, lists lag, and tasks are killed between any two of their effects or run twice at once. A creation is a trial.",
    full: 500,
    small: 1,
    perSecond: 0.2,
  }),
} as const satisfies Record<string, Guarantee>;

export type GuaranteeName = keyof typeof guarantees;

// The local runner's two kinds of errors: one that its user can fix, and one that an AWS service would return.
/** Something on this machine prevents the start. The message is one line that says what to do. */
export class LocalError extends Error {
  override name = "LocalError";
}

/** An error that AWS would return: `name` is AWS's error code. */
export class AwsFault extends Error {
  status: number;
  /** Further fields of the response, such as a cancelled transaction's reasons. */
  details: object;
  constructor(code: string, message: string, status = 400, details: object = {}) {
    super(message);
    this.name = code;
    this.status = status;
    this.details = details;
  }
}

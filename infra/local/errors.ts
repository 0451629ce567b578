// The two kinds of error of the local runner: what its user can fix, and what an AWS service would return.
/** Something on this machine is in the way. The message is one line that says what to do. */
export class LocalError extends Error {
  override name = "LocalError";
}

/** An error that AWS would return: `name` is AWS's error code. */
export class AwsFault extends Error {
  status: number;
  constructor(code: string, message: string, status = 400) {
    super(message);
    this.name = code;
    this.status = status;
  }
}

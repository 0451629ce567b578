// The error of a function, with the name by which Step Functions matches it.

/** What a function threw, or what happened to it, with the name by which Step Functions matches it. */
export class FunctionError extends Error {
  readonly trace: string[];
  constructor(errorType: string, errorMessage: string, trace: string[] = []) {
    super(errorMessage);
    this.name = errorType;
    this.trace = trace;
  }
}

// This file runs before each test file of `npm run mutate`.
import fc from "fast-check";

// That a change is noticed is enough: nobody reads the smallest counterexample.
fc.configureGlobal({ endOnFailure: true });

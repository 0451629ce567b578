// The sign-in page.
import type { ReactNode } from "react";

export const login = {
  title: "Sign in",
  email: "Email",
  password: "Password",
  noEmail: "Enter your email.",
  noPassword: "Enter your password.",
  signIn: "Sign in",
  wrong: "Incorrect email or password.",
  locked: {
    title: "Too many failed attempts",
    text: (time: ReactNode) => <>You can try again in {time}.</>,
  },
  endings: {
    "logged-out": "You've signed out.",
    "logged-out-here":
      "You've signed out in this browser. We couldn't reach the service, so your session will expire there within 12 hours.",
    ended: "Your session ended. Sign in to pick up where you left off.",
    expired: "Your session expired. Sign in to pick up where you left off.",
  },
};

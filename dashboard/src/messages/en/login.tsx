// The sign-in page.
import type { ReactNode } from "react";

export const login = {
  title: "Sign in",
  email: "Email",
  password: "Password",
  noEmail: "Enter your email.",
  noPassword: "Enter your password.",
  forgotten: "Forgot password?",
  back: "Back to sign-in",
  links: {
    name: "Your name",
    newPassword: "New password",
    passwordHint: "12 to 128 characters, and none of the most common passwords.",
    required: "This is required.",
    accept: {
      title: "Accept invitation",
      about: "Choose a name and a password to join the account.",
      submit: "Accept and sign in",
    },
    forgot: {
      title: "Forgot password",
      about: "We send you a link to set a new password.",
      submit: "Send link",
      sent: "If there is a user with this email, a link is on its way. It is valid for 30 minutes.",
    },
    reset: {
      title: "Set new password",
      about: "You'll be signed out everywhere.",
      submit: "Set password",
      done: "Your password is set. You can sign in now.",
    },
    invalid: "This link isn't valid: it was used, has expired, or a newer one was sent.",
    emailTaken: "A user with this email already exists. Sign in, or ask whoever invited you to use another email.",
  },
  signIn: "Sign in",
  withPasskey: "Sign in with a passkey",
  second: {
    title: "Second step",
    about: "Your password is right. Now prove that it's you.",
    passkey: "Use a passkey",
    code: "Code from your authenticator app",
    recoveryCode: "Recovery code",
    noCode: "Enter a code.",
    confirm: "Confirm",
    useRecoveryCode: "Use a recovery code",
    useApp: "Use the authenticator app",
    wrong: "This code or passkey isn't valid: it is wrong, or was used before.",
    lost: "If you have lost them all, ask an owner of your account to remove them.",
    back: "Start again",
    notUsed: "The browser didn't use a passkey. Try again, or use another way.",
  },
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

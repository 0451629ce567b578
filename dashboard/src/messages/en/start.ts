// What the page says before anything is loaded. index.html has the first of it, too.

export const start = {
  loading: {
    before: "Loading the dashboard. If this takes long, check your connection and ",
    link: "reload the page",
    after: ".",
  },
  notLoaded: {
    title: "Couldn't load this page",
    text: "The dashboard was updated, or your connection dropped. Reload to continue.",
  },
  reload: "Reload",
};

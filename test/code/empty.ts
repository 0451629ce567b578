// The code of an instance for which nobody has set any.
import { NEWEST_IMAGE } from "../../shared/providers/sandbox/images.ts";

export const EMPTY = {
  repositories: [],
  python_packages: [],
  allow_source_builds: false,
  install_modules: [],
  environment: [],
  auto_deploy: "off",
  hook: null,
  image: {
    follow: "pinned",
    version: "19.0",
    id: null,
    created_at: null,
    newest_created_at: NEWEST_IMAGE.created_at,
    update_available: null,
  },
  updated_at: null,
};

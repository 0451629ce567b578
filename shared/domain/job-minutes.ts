// How long each kind of job on a machine may take: a workflow waits so long for it, and the machine ends it a minute before, so
// that it reports itself what took too long. Whatever was packed and sent in time can be read in time: checking an archive has as
// long, because a listing that cannot be used makes it read all of it, and loading it longer.

export const JOB_MINUTES = {
  prepare_host: 20,
  adopt_host_key: 6,
  retire_host: 15,
  install_erp: 30,
  remove_erp: 15,
  start_erp: 10,
  stop_erp: 10,
  restart_erp: 10,
  check_health: 10,
  make_archive: 120,
  forget_archive: 6,
  verify_archive: 120,
  build_restore: 180,
  drill_archive: 210,
  import_archive: 240,
  remove_drill: 15,
  pause_erp: 10,
  swap_restore: 15,
  restore_archive: 180,
  put_back: 15,
  drop_old: 15,
  neutralize: 15,
  personalize: 15,
  move_domain: 15,
  verify_clone: 10,
} as const;

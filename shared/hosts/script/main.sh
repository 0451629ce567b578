# Runs the requested command.

main() {
  local command=${1:-} id=${2:-}
  [[ $command =~ ^(probe|settings|watch_disk|measure_disk|renew_proxy)$ || $command$id =~ ^report[0-9]{0,15}$ || $id =~ ^[A-Za-z0-9_-]{1,120}$ ]] ||
    reject "usage: begin JOB KIND SECONDS | status JOB | end JOB | health INSTANCE | logs INSTANCE SOURCE SINCE UNTIL | work_log OPERATION | report SINCE | settings | renew_proxy | probe"
  case $command in
    begin) begin "$id" "$3" "$4" ;;
    status) status "$id" ;;
    run) run "$id" ;;
    guard) guard "$id" ;;
    end) end "$id" ;;
    health) health "$id" ;;
    logs) logs "$id" "$3" "$4" "$5" ;;
    work_log) work_log "$id" ;;
    report) report "$id" ;;
    settings) take_settings ;;
    watch_disk | measure_disk | renew_proxy) "$command" ;;
    probe) echo ok ;;
    *) reject "Unknown command: $command" ;;
  esac
}

main "$@"

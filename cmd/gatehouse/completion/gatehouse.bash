# Completion of gatehouse for bash. Where gatehouse knows no word, files are completed.
_gatehouse() {
  local IFS=$'\n'
  COMPREPLY=($("${COMP_WORDS[0]}" __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _gatehouse gatehouse
